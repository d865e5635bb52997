package io.erda.eval.baselines;

import static io.erda.eval.report.Figure.count;
import static io.erda.eval.report.Figure.ns;
import static io.erda.eval.report.Figure.share;

import io.erda.eval.Experiment;
import io.erda.eval.load.Dataset;
import io.erda.eval.process.DeviceChoice;
import io.erda.eval.process.Opened;
import io.erda.eval.profile.ProfileSteps;
import io.erda.eval.profile.Sampling;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Where the time of an update over shared memory goes: the threads of both ends are sampled while
 * one client updates, round after round, in Erda with both kinds of puts and in both baselines. It
 * has no goals; it explains the results of {@link BaselinesExperiment}.
 */
public final class ProfileExperiment implements Experiment {
  private static final int VALUE_BYTES = 1024;

  @Override
  public String name() {
    return "profile";
  }

  @Override
  public String what() {
    return "an update of 1 KiB over shared memory is followed step by step in client and server, in"
        + " Erda with both kinds of puts and in both baselines, which tells why baselines shows"
        + " what it does; nothing is expected";
  }

  @Override
  public Report run(Context context) {
    Optional<String> missing = Sampling.missing();
    if (missing.isPresent()) {
      return Report.skipped(missing.get());
    }
    Dataset dataset = new Dataset(context.quick() ? 10_000 : 100_000, VALUE_BYTES);
    int operations = context.quick() ? 300_000 : 1_000_000;
    int rounds = context.roundsOr(9, 3);
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
          ServedScheme.startAll(recording, dataset, DeviceChoice.SHM, 0, Counting.NOTHING);
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
    return tell(context.report(), measured, operations);
  }

  private static Report tell(Report report, List<SampledUpdates> measured, int operations) {
    Figures steps = new Figures("end", "step");
    Figures samples = new Figures("samples", "");
    Figures.Row whole = steps.row("both", "an update, mean");
    measured.forEach(each -> whole.add(ns(each.scheme().title, each.nsPerUpdate())));
    tell("client", UpdateSteps.CLIENT, SampledUpdates::client, measured, steps, samples);
    tell("server", UpdateSteps.SERVER, SampledUpdates::server, measured, steps, samples);
    return report
        .nothingExpected()
        .given("valueBytes", VALUE_BYTES)
        .given("operations", operations)
        .words(
            "Both threads are looked at every ten milliseconds. A step's time is its part of"
                + " the samples of its thread, times the mean of an update. What one end does"
                + " while the other waits is what an update takes; what the server does behind"
                + " its answer costs the client only where the next request comes before that"
                + " has ended. A turn of the server's that finds nothing is told as waiting or"
                + " as the rest of a step. A thread is not seen while it is in the"
                + " kernel: how much was seen stands in a row, and what was not is spread over"
                + " all steps. To be looked at slows both ends down.")
        .add(steps)
        .add("samples", samples);
  }

  private static void tell(
      String end,
      List<String> names,
      Function<SampledUpdates, ProfileSteps.Shares> shares,
      List<SampledUpdates> measured,
      Figures steps,
      Figures samples) {
    for (String step : names) {
      if (measured.stream().allMatch(each -> shares.apply(each).of(step) == 0)) {
        continue;
      }
      Figures.Row row = steps.row(end, step);
      for (SampledUpdates each : measured) {
        boolean has = shares.apply(each).has(step);
        double ns = has ? shares.apply(each).of(step) * each.nsPerUpdate() : Double.NaN;
        row.add(ns(each.scheme().title, ns));
      }
    }
    Figures.Row counts = samples.row(end, "how many");
    Figures.Row parts = samples.row(end, "part of the time that they are");
    for (SampledUpdates each : measured) {
      int count = shares.apply(each).samples();
      counts.add(count(each.scheme().title, count));
      parts.add(share(each.scheme().title, count / Sampling.samplesIn(each.ns())));
    }
  }
}
