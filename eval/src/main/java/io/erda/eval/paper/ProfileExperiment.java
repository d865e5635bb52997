package io.erda.eval.paper;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.Numbers;
import io.erda.eval.Experiment;
import io.erda.eval.baselines.Counting;
import io.erda.eval.load.Dataset;
import io.erda.eval.process.Opened;
import io.erda.eval.process.Transport;
import io.erda.eval.profile.Sampling;
import io.erda.eval.profile.Steps;
import io.erda.eval.report.Part;
import io.erda.eval.report.Report;
import io.erda.eval.report.Table;
import io.erda.eval.report.Words;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Where the time of an update over shared memory goes: the threads of both ends are looked at while
 * one client updates, round after round, in Erda with both kinds of puts and in both baselines. It
 * shows nothing that must be so; it says why {@link BaselinesExperiment} shows what it does.
 */
public final class ProfileExperiment implements Experiment {
  private static final int VALUE_BYTES = 1024;

  /** What stands where a scheme has no such step. */
  private static final String NONE = "–";

  @Override
  public String name() {
    return "profile";
  }

  @Override
  public String what() {
    return "where the time of an update of 1 KiB over shared memory goes, step by step in client"
        + " and server, in Erda with both kinds of puts and in both baselines: why baselines shows"
        + " what it does";
  }

  @Override
  public Report run(Context context) {
    Optional<String> missing = Sampling.missing();
    if (missing.isPresent()) {
      return Report.skipped(missing.get());
    }
    Dataset dataset = new Dataset(context.quick() ? 10_000 : 100_000, VALUE_BYTES);
    int operations = context.quick() ? 300_000 : 1_000_000;
    int rounds = context.rounds() > 0 ? context.rounds() : context.quick() ? 3 : 9;
    Sampling sampling = new Sampling(context.newDirectory("profile"));
    Context recording =
        new Context(
            context.children(),
            sampling.recording(context.jvm()),
            context.temporaryDirectory(),
            context.progress(),
            context.rounds(),
            context.quick());
    List<SampledUpdates> measured = new ArrayList<>();
    try (Opened opened = new Opened()) {
      List<ServedScheme> schemes =
          ServedScheme.startAll(recording, dataset, Transport.SHM, 0, Counting.NOTHING);
      schemes.forEach(scheme -> opened.add(scheme::close));
      for (ServedScheme scheme : schemes) {
        UpdatingChild client =
            UpdatingChild.start(recording.children(), recording.jvm(), scheme, dataset);
        opened.add(client::stop);
        measured.add(new SampledUpdates(scheme, client));
      }
      context.progress().step("updates");
      for (int round = -1; round < rounds; round++) {
        context.progress().at(round < 0 ? "warm-up" : "round " + (round + 1) + " of " + rounds);
        for (int i = 0; i < measured.size(); i++) {
          int which = (round & 1) == 0 ? i : measured.size() - 1 - i;
          measured.get(which).update(operations, round >= 0);
        }
      }
      context.progress().done("");
    }
    measured.forEach(each -> each.read(sampling));
    return report(measured, operations);
  }

  private static Report report(List<SampledUpdates> measured, int operations) {
    List<String> heads = new ArrayList<>(List.of("end", "step"));
    measured.forEach(each -> heads.add(each.scheme().title));
    Table table = new Table(heads.toArray(String[]::new));
    ObjectNode json = new ObjectMapper().createObjectNode();
    json.put("valueBytes", VALUE_BYTES).put("operations", operations);
    row(table, "both", "an update, mean", measured, each -> Numbers.time(each.nsPerUpdate()));
    rows("client", UpdateSteps.CLIENT, SampledUpdates::client, measured, table, json);
    rows("server", UpdateSteps.SERVER, SampledUpdates::server, measured, table, json);
    List<Part> parts =
        List.of(
            new Words(
                "Both threads are looked at every ten milliseconds. A step's time is its part of"
                    + " the samples of its thread, times the mean of an update. What one end does"
                    + " while the other waits is what an update takes; what the server does behind"
                    + " its answer costs the client only where the next request comes before that"
                    + " has ended. A turn of the server's that finds nothing is told as waiting or"
                    + " as the rest of a step. A thread is not seen while it is in the"
                    + " kernel: how much was seen stands in a row, and what was not is spread over"
                    + " all steps. To be looked at slows both ends down."),
            table);
    return Report.of(parts, json, List.of());
  }

  private static void rows(
      String end,
      List<String> steps,
      Function<SampledUpdates, Steps.Shares> shares,
      List<SampledUpdates> measured,
      Table table,
      ObjectNode json) {
    for (String step : steps) {
      if (measured.stream().allMatch(each -> shares.apply(each).of(step) == 0)) {
        continue;
      }
      row(
          table,
          end,
          step,
          measured,
          each ->
              shares.apply(each).has(step)
                  ? Numbers.time(shares.apply(each).of(step) * each.nsPerUpdate())
                  : NONE);
      for (SampledUpdates each : measured) {
        if (shares.apply(each).has(step)) {
          json.withObject("/" + each.scheme().title + "/" + end)
              .put(step, shares.apply(each).of(step) * each.nsPerUpdate());
        }
      }
    }
    row(
        table,
        end,
        "samples, and how much of the time they are",
        measured,
        each -> {
          int samples = shares.apply(each).samples();
          double all = Sampling.samplesIn(each.ns());
          return Numbers.count(samples) + ", " + Numbers.count(100 * samples / all) + "%";
        });
    for (SampledUpdates each : measured) {
      json.withObject("/" + each.scheme().title)
          .put("meanNs", each.nsPerUpdate())
          .put(end + "Samples", shares.apply(each).samples());
    }
  }

  private static void row(
      Table table,
      String end,
      String step,
      List<SampledUpdates> measured,
      Function<SampledUpdates, String> cell) {
    List<Object> row = new ArrayList<>(List.of(end, step));
    measured.forEach(each -> row.add(cell.apply(each)));
    table.row(row.toArray());
  }
}
