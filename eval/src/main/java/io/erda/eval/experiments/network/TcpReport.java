package io.erda.eval.experiments.network;

import static io.erda.eval.experiments.network.TcpExperiment.AGAIN;
import static io.erda.eval.experiments.network.TcpExperiment.BARE_ONE;
import static io.erda.eval.experiments.network.TcpExperiment.BARE_PUT;
import static io.erda.eval.experiments.network.TcpExperiment.BARE_TWO;
import static io.erda.eval.experiments.network.TcpExperiment.CONNECTIONS;
import static io.erda.eval.experiments.network.TcpExperiment.FIRST;
import static io.erda.eval.experiments.network.TcpExperiment.GET;
import static io.erda.eval.experiments.network.TcpExperiment.GET_ALL;
import static io.erda.eval.experiments.network.TcpExperiment.LOGIC;
import static io.erda.eval.experiments.network.TcpExperiment.PIPELINED;
import static io.erda.eval.experiments.network.TcpExperiment.PUT;
import static io.erda.eval.experiments.network.TcpExperiment.PUT_SHARE;
import static io.erda.eval.experiments.network.TcpExperiment.REDIS;
import static io.erda.eval.experiments.network.TcpExperiment.SHARE;
import static io.erda.eval.experiments.network.TcpExperiment.VALUE_BYTES;
import static io.erda.eval.report.Figure.bytes;
import static io.erda.eval.report.Figure.count;
import static io.erda.eval.report.Figure.ns;
import static io.erda.eval.report.Figure.number;
import static io.erda.eval.report.Figure.perSecond;
import static io.erda.eval.report.Figure.ratio;
import static io.erda.eval.report.Figure.share;

import io.erda.eval.experiments.network.TcpExperiment.Costs;
import io.erda.eval.experiments.network.TcpExperiment.ServerCost;
import io.erda.eval.report.Figure;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import java.util.function.ToDoubleFunction;

/**
 * The report of the tcp experiment. A ratio is the median of the rounds' ratios, because other load
 * of the machine in a round affects both sides.
 */
final class TcpReport {
  private static final double BARE_RATIO_MAX = 1.3;
  private static final double AT_ONCE_RATIO_MIN = 5;
  private static final double REDIS_RATIO_MIN = 1.5;
  private static final double PUT_RATIO_MAX = 1.4;
  private static final double SHARE_MIN = 0.5;
  private static final double PUT_SHARE_MIN = 0.8;
  private static final double LOGIC_SHARE_MAX = 0.01;

  private final Rounds rounds;
  private final TcpRoundTrips first;
  private final TcpRoundTrips again;
  private final Costs costs;
  private final Figures times = new Figures("what");

  /**
   * @param first counts of gets of keys that are new to the client
   * @param again counts of gets of keys that it knows
   */
  TcpReport(Rounds rounds, TcpRoundTrips first, TcpRoundTrips again, Costs costs) {
    this.rounds = rounds;
    this.first = first;
    this.again = again;
    this.costs = costs;
  }

  Report tell(Report report) {
    Figures trips = new Figures("get");
    tell(trips.row("first of a key"), first);
    tell(trips.row("of a key met before"), again);
    time("two bare requests and answers, median", BARE_TWO);
    time("first get of a key, median", FIRST);
    time("a bare request and answer, median", BARE_ONE);
    time("get of a key met before, median", AGAIN);
    time("any get, one at a time, mean", GET);
    time("a get of 16 in flight", PIPELINED);
    time("a get of a getAll of 16", GET_ALL);
    time("a GET of 16, Redis", REDIS);
    time("a bare request and answer of an update's bytes, median", BARE_PUT);
    time("update, one at a time, median", PUT);
    return report
        .given("valueBytes", VALUE_BYTES)
        .add("roundTrips", trips)
        .add("times", times)
        .add(
            Figures.list("beside each other")
                .add(
                    perRoundTrip("first get of a key", FIRST, first, BARE_TWO, 2),
                    perRoundTrip("get of a key met before", AGAIN, again, BARE_ONE, 1),
                    beside("one at a time / 16 in flight", GET, PIPELINED)
                        .atLeast(AT_ONCE_RATIO_MIN),
                    beside("Redis / 16 in flight", REDIS, PIPELINED).atLeast(REDIS_RATIO_MIN),
                    beside("one at a time / getAll of 16", GET, GET_ALL).atLeast(AT_ONCE_RATIO_MIN),
                    beside("Redis / getAll of 16", REDIS, GET_ALL).atLeast(REDIS_RATIO_MIN),
                    ratio(CONNECTIONS + " connections: slowest / median", rounds.values(SHARE))
                        .atLeast(SHARE_MIN),
                    beside("update / bare", PUT, BARE_PUT).atMost(PUT_RATIO_MAX),
                    ratio(
                            CONNECTIONS + " connections that update: slowest / median",
                            rounds.values(PUT_SHARE))
                        .atLeast(PUT_SHARE_MIN),
                    share("server's logic, of a core", rounds.values(LOGIC))
                        .atMost(LOGIC_SHARE_MAX)))
        .add(
            Figures.list("YCSB-C, and many connections")
                .add(
                    perSecond("gets of YCSB, one thread", of(ServerCost::getsPerSecond)),
                    ns("server's I/O thread, for one of them", of(ServerCost::ioNsPerGet)),
                    count("operations of YCSB that failed", errors()).atMost(0).atAnySize(),
                    perSecond(
                        "gets of " + CONNECTIONS + " connections together",
                        costs.shares().stream()
                            .mapToDouble(FairShare.Shares::perSecond)
                            .toArray())));
  }

  private static void tell(Figures.Row row, TcpRoundTrips trips) {
    row.add(
        number("round trips", trips.perGet()),
        number("READs", trips.readsPerGet()),
        bytes("of an object", trips.objectBytes()));
  }

  private void time(String what, String name) {
    double[] ns = rounds.values(name);
    times.row(what).add(ns("each", ns), perSecond("all", 1e9 / Rounds.median(ns)));
  }

  /**
   * Compares a get with bare round trips of the same bytes, as many as were counted.
   *
   * @param bareTrips number of bare round trips that were measured
   */
  private Figure perRoundTrip(
      String what, String name, TcpRoundTrips trips, String bare, int bareTrips) {
    double[] ratios = Rounds.ratios(rounds.values(name), rounds.values(bare));
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] *= bareTrips / trips.perGet();
    }
    return ratio(what + " / bare, a round trip", ratios).atMost(BARE_RATIO_MAX);
  }

  private Figure beside(String title, String of, String to) {
    return ratio(title, Rounds.ratios(rounds.values(of), rounds.values(to)));
  }

  private double[] of(ToDoubleFunction<ServerCost> figure) {
    return costs.server().stream().mapToDouble(figure).toArray();
  }

  private long errors() {
    return costs.server().stream().mapToLong(ServerCost::errors).sum();
  }
}
