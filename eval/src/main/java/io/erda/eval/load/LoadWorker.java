package io.erda.eval.load;

import io.erda.client.ErdaClient;
import io.erda.ycsb.ErdaDb;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import site.ycsb.DBException;
import site.ycsb.Workload;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/**
 * The process that loads a store. It reads commands from its standard input, and writes progress to
 * its standard output; it ends with its input.
 *
 * <pre>
 *   prepare PHASE    →  ready         every thread is connected and warm, and idle
 *   go               →  progress N    now and then
 *                       result …      connections are closed
 * </pre>
 */
public final class LoadWorker {
  private static final long PROGRESS_NS = 250_000_000L;

  private final String uri;
  private final PrintStream out;

  private LoadWorker(String uri, PrintStream out) {
    this.uri = uri;
    this.out = out;
  }

  public static void main(String[] arguments) throws Exception {
    Measurements.setProperties(new Properties());
    LoadWorker worker = new LoadWorker(arguments[0], System.out);
    try {
      worker.run(new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)));
    } catch (DBException | IllegalStateException e) {
      System.err.println(e.getMessage());
      System.exit(1);
    }
    System.exit(0);
  }

  private void run(BufferedReader in) throws Exception {
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      if (line.startsWith("prepare ")) {
        runPhase(LoadPhase.parse(line.substring("prepare ".length())), in);
      }
    }
  }

  private void runPhase(LoadPhase phase, BufferedReader in) throws Exception {
    Properties properties = new Properties();
    properties.putAll(phase.properties());
    properties.setProperty(ErdaDb.URI, uri);
    CoreWorkload workload = new CoreWorkload();
    workload.init(properties);
    CountDownLatch warm = new CountDownLatch(phase.threads());
    CountDownLatch go = new CountDownLatch(1);
    AtomicLong left = new AtomicLong(phase.operations());
    List<LoadThread> threads = new ArrayList<>();
    for (int i = 0; i < phase.threads(); i++) {
      LoadThread thread = new LoadThread(i, phase, workload, properties, warm, go, left);
      threads.add(thread);
      thread.start();
    }
    warm.await();
    failIfAny(threads);
    out.println("ready");
    requireGo(in);
    long startNs = System.nanoTime();
    go.countDown();
    awaitAll(threads, phase, left);
    long elapsedNs = System.nanoTime() - startNs;
    failIfAny(threads);
    out.println("result " + result(threads, elapsedNs).format());
    workload.cleanup();
  }

  private static void requireGo(BufferedReader in) throws IOException {
    String line = in.readLine();
    if (!"go".equals(line)) {
      System.exit(line == null ? 0 : 1); // the parent process is gone
    }
  }

  private void awaitAll(List<LoadThread> threads, LoadPhase phase, AtomicLong left)
      throws InterruptedException {
    for (LoadThread thread : threads) {
      while (!thread.join(Duration.ofNanos(PROGRESS_NS))) {
        out.println("progress " + (phase.operations() - Math.max(0, left.get())));
        if (out.checkError()) {
          System.exit(1); // the reader of the output has left
        }
      }
    }
  }

  private static LoadResult result(List<LoadThread> threads, long elapsedNs) {
    Latencies reads = threads.getFirst().db.reads();
    Latencies updates = threads.getFirst().db.updates();
    long errors = 0;
    long operations = 0;
    long updatesDone = 0;
    for (LoadThread thread : threads) {
      if (thread != threads.getFirst()) {
        reads.add(thread.db.reads());
        updates.add(thread.db.updates());
      }
      errors += thread.db.errors();
      updatesDone += thread.db.updatesDone();
      operations += thread.done;
    }
    return new LoadResult(
        operations, errors, updatesDone, elapsedNs, reads.percentiles(), updates.percentiles());
  }

  private static void failIfAny(List<LoadThread> threads) {
    for (LoadThread thread : threads) {
      if (thread.failure != null) {
        throw new IllegalStateException(thread.failure.getMessage(), thread.failure);
      }
    }
  }

  /** One client: its connection, its share of the operations. */
  private final class LoadThread extends Thread {
    /** Operations are taken in batches, so that threads rarely contend for the shared counter. */
    private static final int BATCH = 64;

    private final LoadPhase phase;
    private final Workload workload;
    private final Properties properties;
    private final CountDownLatch warm;
    private final CountDownLatch go;
    private final AtomicLong left;
    private final int number;
    private final MeasuredDb db = new MeasuredDb(new ErdaDb(), System::nanoTime);
    private ErdaClient asking;
    private long untilAsking;
    private volatile Throwable failure;
    private volatile long done;

    LoadThread(
        int number,
        LoadPhase phase,
        Workload workload,
        Properties properties,
        CountDownLatch warm,
        CountDownLatch go,
        AtomicLong left) {
      super("load-" + number);
      setDaemon(true);
      this.number = number;
      this.phase = phase;
      this.workload = workload;
      this.properties = properties;
      this.warm = warm;
      this.go = go;
      this.left = left;
    }

    @Override
    public void run() {
      try {
        db.setProperties(properties);
        db.init();
        asking = phase.serverReadsPerMillion() > 0 ? ErdaClient.connect(uri) : null;
        Object state = workload.initThread(properties, number, phase.threads());
        work(state, phase.warmup() / phase.threads());
        db.reset();
        warm.countDown();
        if (!go.await(1, TimeUnit.HOURS)) {
          return;
        }
        share(state);
      } catch (Throwable e) {
        failure = e;
      } finally {
        warm.countDown();
        cleanUp();
      }
    }

    private void share(Object state) {
      long operations = 0;
      while (true) {
        long before = left.getAndAdd(-BATCH);
        if (before <= 0) {
          done = operations;
          return;
        }
        long count = Math.min(before, BATCH);
        work(state, count);
        operations += count;
      }
    }

    private void work(Object state, long count) {
      for (long i = 0; i < count; i++) {
        if (phase.insert()) {
          workload.doInsert(db, state);
        } else {
          workload.doTransaction(db, state);
        }
        if (asking != null && --untilAsking <= 0) {
          asking.stats();
          untilAsking = 1_000_000L / phase.serverReadsPerMillion();
        }
      }
    }

    private void cleanUp() {
      try {
        db.cleanup();
        if (asking != null) {
          asking.close();
        }
      } catch (DBException e) {
        failure = failure == null ? e : failure;
      }
    }
  }
}
