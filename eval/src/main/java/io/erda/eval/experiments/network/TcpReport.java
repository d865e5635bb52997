package io.erda.eval.experiments.network;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.Numbers;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Table;
import io.erda.eval.report.Words;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * What came of the tcp experiment. A ratio is the median of the rounds' ratios, since what else the
 * machine did in a round met both of its sides.
 */
final class TcpReport {
  private static final double BARE_RATIO_MAX = 1.3;
  private static final double AT_ONCE_RATIO_MIN = 5;
  private static final double REDIS_RATIO_MIN = 1.5;
  private static final double SHARE_MIN = 0.5;
  private static final double LOGIC_SHARE_MAX = 0.01;

  private final Rounds rounds;
  private final TcpRoundTrips first;
  private final TcpRoundTrips again;
  private final TcpExperiment.Costs costs;
  private final List<String> missed = new ArrayList<>();
  private final Table goals = new Table("", "median", "min…max", "must be");
  private final ObjectNode json = new ObjectMapper().createObjectNode();

  /**
   * @param first of gets of keys that the client had not met
   * @param again of keys that it had
   */
  TcpReport(Rounds rounds, TcpRoundTrips first, TcpRoundTrips again, TcpExperiment.Costs costs) {
    this.rounds = rounds;
    this.first = first;
    this.again = again;
    this.costs = costs;
  }

  Report report() {
    json.put("valueBytes", TcpExperiment.VALUE_BYTES)
        .put("objectReadBytes", first.objectBytes())
        .put("firstRoundTrips", first.perGet())
        .put("firstReads", first.readsPerGet())
        .put("againRoundTrips", again.perGet())
        .put("againReads", again.readsPerGet());
    Words trips =
        new Words(
            String.format(
                Locale.ROOT,
                "A first get takes %.2f round trips with %.2f READs, one of a key that the client"
                    + " has met %.2f with %.2f; %d bytes for an object.",
                first.perGet(),
                first.readsPerGet(),
                again.perGet(),
                again.readsPerGet(),
                first.objectBytes()));
    Table times = times();
    perRoundTrip("first get of a key", TcpExperiment.FIRST, first, TcpExperiment.BARE_TWO, 2);
    perRoundTrip("get of a key met before", TcpExperiment.AGAIN, again, TcpExperiment.BARE_ONE, 1);
    atOnce(TcpExperiment.PIPELINED, "16 in flight");
    atOnce(TcpExperiment.GET_ALL, "getAll of 16");
    atLeast(
        "64 connections: slowest / median",
        rounds.values(TcpExperiment.SHARE),
        SHARE_MIN,
        "slowestToMedian");
    atMost(
        "server's logic, share of a core",
        rounds.values(TcpExperiment.LOGIC),
        LOGIC_SHARE_MAX,
        "logicShare");
    long errors = costs.server().stream().mapToLong(TcpExperiment.ServerCost::errors).sum();
    if (errors > 0) {
      missed.add(errors + " operations of YCSB failed");
    }
    return Report.of(List.of(trips, times, goals, new Words(costsText())), json, missed);
  }

  /** What each thing takes. */
  private Table times() {
    Table table = new Table("", "each", "min…max", "per second");
    ObjectNode ns = json.putObject("ns");
    time(table, ns, "two bare requests and answers, median", TcpExperiment.BARE_TWO);
    time(table, ns, "first get of a key, median", TcpExperiment.FIRST);
    time(table, ns, "a bare request and answer, median", TcpExperiment.BARE_ONE);
    time(table, ns, "get of a key met before, median", TcpExperiment.AGAIN);
    time(table, ns, "any get, one at a time, mean", TcpExperiment.GET);
    time(table, ns, "a get of 16 in flight", TcpExperiment.PIPELINED);
    time(table, ns, "a get of a getAll of 16", TcpExperiment.GET_ALL);
    time(table, ns, "a GET of 16, Redis", TcpExperiment.REDIS);
    return table;
  }

  private void time(Table table, ObjectNode ns, String what, String name) {
    double median = rounds.median(name);
    table.row(
        what,
        Numbers.time(median),
        Numbers.time(rounds.min(name)) + "…" + Numbers.time(rounds.max(name)),
        Numbers.count(1e9 / median));
    values(ns.putArray(name), rounds.values(name));
  }

  /**
   * A get against bare round trips of the same bytes, each as many times as it was counted.
   *
   * @param bareTrips round trips of what was measured without a get
   */
  private void perRoundTrip(
      String what, String name, TcpRoundTrips trips, String bare, int bareTrips) {
    double[] ratios = ratios(rounds.values(name), rounds.values(bare));
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] *= bareTrips / trips.perGet();
    }
    atMost(what + " / bare, a round trip", ratios, BARE_RATIO_MAX, name + "ToBare");
  }

  private void atOnce(String name, String what) {
    double[] times = rounds.values(name);
    atLeast(
        what + " / one at a time",
        ratios(rounds.values(TcpExperiment.GET), times),
        AT_ONCE_RATIO_MIN,
        name + "ToOne");
    atLeast(
        what + " / Redis",
        ratios(rounds.values(TcpExperiment.REDIS), times),
        REDIS_RATIO_MIN,
        name + "ToRedis");
  }

  private String costsText() {
    double io = median(TcpExperiment.ServerCost::ioNsPerGet);
    double gets = median(TcpExperiment.ServerCost::getsPerSecond);
    double[] together = costs.shares().stream().mapToDouble(FairShare.Shares::perSecond).toArray();
    json.put("ioNsPerGet", io).put("ycsbGetsPerSecond", gets);
    json.put("connectionsGetsPerSecond", Rounds.median(together));
    return String.format(
        Locale.ROOT,
        "YCSB-C, one thread: %s gets/s, processor time of the server's I/O thread %s a get."
            + " %d connections together: %s gets/s.",
        Numbers.count(gets),
        Numbers.time(io),
        TcpExperiment.CONNECTIONS,
        Numbers.count(Rounds.median(together)));
  }

  private double median(ToDoubleFunction<TcpExperiment.ServerCost> figure) {
    return Rounds.median(costs.server().stream().mapToDouble(figure).toArray());
  }

  private void atMost(String what, double[] values, double max, String name) {
    goal(what, values, "≤ " + max, name, Rounds.median(values) <= max);
  }

  private void atLeast(String what, double[] values, double min, String name) {
    goal(what, values, "≥ " + min, name, Rounds.median(values) >= min);
  }

  private void goal(String what, double[] values, String goal, String name, boolean met) {
    double min = Double.MAX_VALUE;
    double max = -Double.MAX_VALUE;
    for (double value : values) {
      min = Math.min(min, value);
      max = Math.max(max, value);
    }
    String median = String.format(Locale.ROOT, "%.3f", Rounds.median(values));
    goals.row(what, median, String.format(Locale.ROOT, "%.3f…%.3f", min, max), goal);
    json.put(name, Rounds.median(values));
    if (!met) {
      missed.add(what + " is " + median + ", expected " + goal);
    }
  }

  private static double[] ratios(double[] these, double[] those) {
    double[] ratios = new double[these.length];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = these[i] / those[i];
    }
    return ratios;
  }

  private static void values(ArrayNode array, double[] values) {
    for (double value : values) {
      array.add(value);
    }
  }
}
