package io.erda.eval.paper;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.eval.Experiment;
import io.erda.eval.baselines.Counting;
import io.erda.eval.load.Dataset;
import io.erda.eval.process.Transport;
import io.erda.eval.profile.Sampling;
import io.erda.eval.profile.Sampling.Span;
import io.erda.eval.profile.Steps;
import io.erda.eval.report.Part;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Table;
import io.erda.eval.report.Words;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Where the time of an update over shared memory goes: the threads of both ends are looked at while
 * one client updates, round after round, in Erda and in both baselines. It shows nothing that must
 * be so; it says why {@link BaselinesExperiment} shows what it does.
 */
public final class ProfileExperiment implements Experiment {
  private static final int VALUE_BYTES = 1024;

  @Override
  public String name() {
    return "profile";
  }

  @Override
  public String what() {
    return "where the time of an update of 1 KiB over shared memory goes, step by step in client"
        + " and server, in Erda and in both baselines: why baselines shows what it does";
  }

  @Override
  public Report run(Context context) {
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
    Map<Scheme, Measured> measured = new EnumMap<>(Scheme.class);
    List<ServedScheme> schemes =
        ServedScheme.startAll(recording, dataset, Transport.SHM, 0, Counting.NOTHING);
    List<UpdatingChild> clients = new ArrayList<>();
    try {
      for (ServedScheme scheme : schemes) {
        measured.put(scheme.scheme, new Measured(scheme, rounds));
        clients.add(UpdatingChild.start(recording.children(), recording.jvm(), scheme, dataset));
      }
      context.progress().step("updates");
      for (int round = -1; round < rounds; round++) {
        context.progress().at(round < 0 ? "warm-up" : "round " + (round + 1) + " of " + rounds);
        for (int i = 0; i < schemes.size(); i++) {
          int which = (round & 1) == 0 ? i : schemes.size() - 1 - i;
          Span span = clients.get(which).update(operations);
          if (round >= 0) {
            measured.get(schemes.get(which).scheme).add(round, span, operations);
          }
        }
      }
      context.progress().done("");
      measured.values().forEach(each -> each.clientPid = clients.get(each.ordinal()).pid());
    } finally {
      clients.forEach(UpdatingChild::stop);
      schemes.forEach(ServedScheme::close);
    }
    measured.values().forEach(each -> each.read(sampling));
    return report(measured, operations);
  }

  private static Report report(Map<Scheme, Measured> measured, int operations) {
    List<String> heads = new ArrayList<>(List.of("end", "step"));
    measured.keySet().forEach(scheme -> heads.add(scheme.title));
    Table table = new Table(heads.toArray(String[]::new));
    ObjectNode json = new ObjectMapper().createObjectNode();
    json.put("valueBytes", VALUE_BYTES).put("operations", operations);
    measured.forEach((scheme, each) ->
        json.putObject(scheme.title)
            .put("meanNs", each.nsPerUpdate())
            .put("clientSamples", each.client.samples())
            .put("serverSamples", each.server.samples()));
    row(table, "both", "an update, mean", measured, Measured::nsPerUpdate);
    rows("client", UpdateSteps.CLIENT, each -> each.client, measured, table, json);
    rows("server", UpdateSteps.SERVER, each -> each.server, measured, table, json);
    List<Part> parts =
        List.of(
            new Words(
                "Each end polls, so its thread is always in one step or another: a step's time is"
                    + " its part of the samples of that thread, times the mean of an update. What"
                    + " one end does while the other waits is what an update takes; what the server"
                    + " does behind its answer costs the client only where it sends the next"
                    + " request before that has ended. Samples come every ten milliseconds, while"
                    + " Java code runs; to be looked at slows both ends down."),
            table);
    return new Report(parts, json, List.of());
  }

  private static void rows(
      String end,
      List<String> steps,
      Function<Measured, Steps.Shares> shares,
      Map<Scheme, Measured> measured,
      Table table,
      ObjectNode json) {
    for (String step : steps) {
      if (measured.values().stream().anyMatch(each -> shares.apply(each).of(step) > 0)) {
        row(table, end, step, measured, each -> shares.apply(each).of(step) * each.nsPerUpdate());
        measured.forEach((scheme, each) ->
            json.withObject("/" + scheme.title + "/" + end)
                .put(step, shares.apply(each).of(step) * each.nsPerUpdate()));
      }
    }
  }

  private static void row(
      Table table,
      String end,
      String step,
      Map<Scheme, Measured> measured,
      Function<Measured, Double> ns) {
    List<Object> row = new ArrayList<>(List.of(end, step));
    measured.values().forEach(each -> row.add(Table.time(ns.apply(each))));
    table.row(row.toArray());
  }

  /** What was seen of a scheme. */
  private static final class Measured {
    private final Scheme scheme;
    private final String serverThread;
    private final long serverPid;
    private final double[] meanNs;
    private final List<Span> spans = new ArrayList<>();
    private final Steps.Shares client;
    private final Steps.Shares server;
    private long clientPid;

    Measured(ServedScheme served, int rounds) {
      scheme = served.scheme;
      serverThread = served.serverThread();
      serverPid = served.pid();
      meanNs = new double[rounds];
      client = UpdateSteps.ofClient(scheme).new Shares();
      server = UpdateSteps.ofServer(scheme).new Shares();
    }

    int ordinal() {
      return scheme.ordinal();
    }

    void add(int round, Span span, int operations) {
      spans.add(span);
      meanNs[round] = (double) span.ns() / operations;
    }

    double nsPerUpdate() {
      return Rounds.median(meanNs);
    }

    void read(Sampling sampling) {
      sampling.samples(clientPid, UpdatingChild.THREAD, spans, client::add);
      sampling.samples(serverPid, serverThread, spans, server::add);
    }
  }
}
