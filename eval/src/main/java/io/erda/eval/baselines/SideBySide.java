package io.erda.eval.baselines;

import io.erda.eval.Experiment.Context;
import io.erda.eval.load.Dataset;
import io.erda.eval.process.CpuTime;
import io.erda.eval.process.ProcessException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/**
 * Runs one workload on all schemes in alternating rounds of one run; each round reverses the order
 * of the schemes. The clients are threads of this process, each with its own connection.
 */
final class SideBySide {
  private final Context context;
  private final List<? extends ComparedStore> schemes;
  private final PaperWorkload workload;
  private final int operations;
  private final int rounds;
  private final List<ZipfianKeys> keys = new ArrayList<>();
  private boolean timed;

  /**
   * @param clients that run at the same time
   * @param operations of a round, of all clients together
   */
  SideBySide(
      Context context,
      List<? extends ComparedStore> schemes,
      Dataset dataset,
      PaperWorkload workload,
      int clients,
      int operations,
      int rounds) {
    this.context = context;
    this.schemes = schemes;
    this.workload = workload;
    this.operations = operations / clients;
    this.rounds = rounds;
    for (int i = 0; i < clients; i++) {
      keys.add(new ZipfianKeys(dataset, workload.updatePercent, ZipfianKeys.FIRST_SEED + i));
    }
  }

  /** Also records {@link Series#workNs}, of servers that measure it. */
  SideBySide timed() {
    timed = true;
    return this;
  }

  /** Runs all rounds, after one that warms up. */
  List<Series> run() throws InterruptedException {
    List<Series> series = new ArrayList<>();
    List<List<Caller>> callers = new ArrayList<>();
    try {
      for (ComparedStore scheme : schemes) {
        series.add(new Series(scheme.scheme, rounds));
        List<Caller> connected = new ArrayList<>();
        callers.add(connected);
        for (int i = 0; i < keys.size(); i++) {
          connected.add(scheme.connect());
        }
      }
      for (int round = -1; round < rounds; round++) {
        context
            .progress()
            .at(
                workload.label
                    + (round < 0 ? ", warm-up" : ", round " + (round + 1) + " of " + rounds));
        for (int i = 0; i < schemes.size(); i++) {
          int which = (round & 1) == 0 ? i : schemes.size() - 1 - i;
          run(schemes.get(which), callers.get(which), series.get(which), round);
        }
      }
    } finally {
      callers.forEach(connected -> connected.forEach(Caller::close));
    }
    return series;
  }

  private void run(ComparedStore scheme, List<Caller> callers, Series series, int round)
      throws InterruptedException {
    scheme.settle();
    // Asking the server is work, too.
    long askedNs = timed ? -scheme.workNs() : 0;
    long workBeforeNs = timed ? scheme.workNs() : 0;
    askedNs += workBeforeNs;
    CpuTime cpuBefore = scheme.cpu();
    CyclicBarrier start = new CyclicBarrier(callers.size());
    List<Client> clients = new ArrayList<>();
    for (int i = 0; i < callers.size(); i++) {
      clients.add(new Client(callers.get(i), keys.get(i), start));
    }
    clients.forEach(Thread::start);
    for (Client client : clients) {
      client.join();
    }
    scheme.settle(); // work that is applied later counts, too
    long cpuNs = scheme.cpu().since(cpuBefore);
    long workNs = timed ? Math.max(0, scheme.workNs() - workBeforeNs - askedNs) : 0;
    Histogram latencies = new Histogram(Series.HIGHEST_NS, 3);
    long beganNs = Long.MAX_VALUE;
    long endedNs = Long.MIN_VALUE;
    for (Client client : clients) {
      if (client.failure != null) {
        throw new ProcessException(scheme.scheme.title + ": " + client.failure, client.failure);
      }
      latencies.add(client.latencies);
      beganNs = Math.min(beganNs, client.beganNs);
      endedNs = Math.max(endedNs, client.endedNs);
    }
    if (round >= 0) {
      double all = (double) operations * clients.size();
      series.perSecond[round] = all * 1e9 / (endedNs - beganNs);
      series.meanNs[round] = latencies.getMean();
      series.p50Ns[round] = latencies.getValueAtPercentile(50);
      series.cpuNs[round] = cpuNs / all;
      series.workNs[round] = workNs / all;
      series.latencies.add(latencies);
    }
  }

  /** A client's thread for one round. Its results are available when it has ended. */
  private final class Client extends Thread {
    private final Caller caller;
    private final ZipfianKeys keys;
    private final CyclicBarrier start;
    private final Histogram latencies = new Histogram(Series.HIGHEST_NS, 3);
    private long beganNs;
    private long endedNs;
    private Throwable failure;

    Client(Caller caller, ZipfianKeys keys, CyclicBarrier start) {
      super("client");
      this.caller = caller;
      this.keys = keys;
      this.start = start;
      setDaemon(true);
    }

    @Override
    public void run() {
      try {
        start.await();
        Consumer<MemorySegment> get = caller::get;
        BiConsumer<MemorySegment, MemorySegment> put = caller::put;
        beganNs = System.nanoTime();
        long lastNs = beganNs;
        for (int i = 0; i < operations; i++) {
          keys.operate(get, put, i);
          long nowNs = System.nanoTime();
          latencies.recordValue(nowNs - lastNs);
          lastNs = nowNs;
        }
        endedNs = lastNs;
      } catch (InterruptedException | BrokenBarrierException | RuntimeException e) {
        failure = e;
      }
    }
  }
}
