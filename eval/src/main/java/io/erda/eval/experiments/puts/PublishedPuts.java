package io.erda.eval.experiments.puts;

import io.erda.client.ErdaClient;
import io.erda.eval.peers.process.PeerProcess;
import io.erda.eval.process.CpuTime;
import io.erda.eval.process.ProcessException;
import io.erda.eval.process.ServerChild;
import io.erda.eval.process.ThreadCounters;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.StatsFigures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The cost of clients' puts for the server's thread, by window. Borrows server and clients. One
 * thread.
 */
final class PublishedPuts {
  static final String INSTRUCTIONS = "instructions";
  static final String CACHE_MISSES = "cache-misses";
  static final String PAGE_FAULTS = "page-faults";
  private static final List<String> EVENTS = List.of(INSTRUCTIONS, CACHE_MISSES, PAGE_FAULTS);

  /** The part of a window at its beginning and at its end in which nothing is counted. */
  private static final int UNCOUNTED_PART = 8;

  private static final String THREAD = "erda-server";

  private final ServerChild server;
  private final ErdaClient control;
  private final List<PeerProcess> clients;
  private final double[] perSecond;
  private final double[] cpuNs;
  private final double[] workNs;
  private final double[] atMostNs;
  private final List<Map<String, Double>> counted = new ArrayList<>();
  private final Set<String> whyUncounted = new TreeSet<>();

  /**
   * @param control another client, which asks the server for its figures
   */
  PublishedPuts(ServerChild server, ErdaClient control, List<PeerProcess> clients, int rounds) {
    this.server = server;
    this.control = control;
    this.clients = clients;
    perSecond = new double[rounds];
    cpuNs = new double[rounds];
    workNs = new double[rounds];
    atMostNs = new double[rounds];
  }

  /**
   * Lets all clients put for a time.
   *
   * @param round its number; a negative one does not count
   */
  void measure(Duration time, int round) throws InterruptedException {
    Map<String, Long> before = control.stats();
    CpuTime cpuBefore = server.cpu();
    Duration uncounted = time.dividedBy(UNCOUNTED_PART);
    Duration counting = time.minus(uncounted.multipliedBy(2));
    ThreadCounters.Counts counts;
    double rate = 0;
    try (ExecutorService callers = Executors.newFixedThreadPool(clients.size())) {
      List<Future<Double>> puts =
          clients.stream().map(client -> callers.submit(() -> client.put(time))).toList();
      Thread.sleep(uncounted);
      counts = ThreadCounters.of(cpuBefore.threadNumber(THREAD), EVENTS, counting);
      for (Future<Double> put : puts) {
        rate += 1e9 / await(put);
      }
    }
    CpuTime cpu = server.cpu();
    Map<String, Long> after = control.stats();
    if (round < 0) {
      return;
    }
    double puts = difference("puts", before, after);
    perSecond[round] = rate;
    cpuNs[round] = cpu.since(cpuBefore, THREAD) / puts;
    workNs[round] = difference("server.work.ns", before, after) / puts;
    atMostNs[round] = Math.min(cpuNs[round], workNs[round]);
    counts.missing().ifPresent(whyUncounted::add);
    double putsMeanwhile = rate * counting.toNanos() / 1e9;
    Map<String, Double> each = new HashMap<>();
    counts.counts().forEach((event, count) -> each.put(event, count / putsMeanwhile));
    counted.add(each);
  }

  private static double await(Future<Double> put) throws InterruptedException {
    try {
      return put.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof ProcessException why
          ? why
          : new ProcessException("a client: " + e.getCause(), e.getCause());
    }
  }

  private static double difference(String name, Map<String, Long> before, Map<String, Long> after) {
    return StatsFigures.figure(after, name) - StatsFigures.figure(before, name);
  }

  /** The sum of all clients' rates, by round. */
  double[] perSecond() {
    return perSecond.clone();
  }

  /** Processor time of the server's thread for a put, polling included, nanoseconds. */
  double[] cpuNs() {
    return cpuNs.clone();
  }

  /** Time of steps that had something to do, for a put, by the clock, nanoseconds. */
  double[] workNs() {
    return workNs.clone();
  }

  /** The smaller of both in each round, which bounds the server's processor time of a put. */
  double[] atMostNs() {
    return atMostNs.clone();
  }

  /**
   * How often an event occurred in the server's thread for each put, polling included; NaN when it
   * was not counted.
   */
  double counted(String event) {
    double[] counts =
        counted.stream()
            .filter(each -> each.containsKey(event))
            .mapToDouble(each -> each.get(event))
            .toArray();
    return counts.length == 0 ? Double.NaN : Rounds.median(counts);
  }

  /** Why an event was not counted in some round; empty when all were. */
  Set<String> uncounted() {
    return whyUncounted;
  }
}
