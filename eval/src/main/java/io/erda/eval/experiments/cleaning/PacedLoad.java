package io.erda.eval.experiments.cleaning;

import io.erda.client.ErdaClient;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;

/**
 * A thread that gets and puts in turn at a fixed rate, and may do another operation between the two
 * for comparison. Times each operation from its call, and from the time when it was due, so that
 * operations delayed by a slow one count as slow. Owns its client. One other thread takes the
 * times.
 */
public final class PacedLoad implements AutoCloseable {
  private static final long HIGHEST_NS = 10_000_000_000L;
  private static final int PER_CLOCK = 64;

  private final ErdaClient client;
  private final MemorySegment[] keys;
  private final MemorySegment value;
  private final Runnable comparison;
  private final int turns;
  private final SingleWriterRecorder gets = new SingleWriterRecorder(HIGHEST_NS, 3);
  private final SingleWriterRecorder puts = new SingleWriterRecorder(HIGHEST_NS, 3);
  private final SingleWriterRecorder compared = new SingleWriterRecorder(HIGHEST_NS, 3);
  private final SingleWriterRecorder due = new SingleWriterRecorder(HIGHEST_NS, 3);
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private Thread thread;
  private volatile boolean stopped;

  public PacedLoad(ErdaClient client, MemorySegment[] keys, MemorySegment value) {
    this(client, keys, value, null);
  }

  /**
   * Makes a load with a comparison.
   *
   * @param comparison an operation between a get and a put, in the load's thread; null for none
   */
  public PacedLoad(
      ErdaClient client, MemorySegment[] keys, MemorySegment value, Runnable comparison) {
    this.client = client;
    this.keys = keys;
    this.value = value;
    this.comparison = comparison;
    this.turns = comparison == null ? 2 : 3;
  }

  /** Operations per second at full rate, measured in the calling thread for about this time. */
  double fullRate(long forNs) {
    MemorySegment into = Arena.ofAuto().allocate(value.byteSize(), 8);
    long startNs = System.nanoTime();
    long done = 0;
    while (System.nanoTime() - startNs < forNs) {
      for (int i = 0; i < PER_CLOCK; i++) {
        operation(done++, into);
      }
    }
    return done * 1e9 / (System.nanoTime() - startNs);
  }

  /** Does the next operation in the cycle, and returns the recorder for its time. */
  private SingleWriterRecorder operation(long number, MemorySegment into) {
    MemorySegment key = keys[(int) (number % keys.length)];
    long turn = number % turns;
    if (turn == turns - 1) {
      client.put(key, value);
      return puts;
    }
    if (turn > 0) {
      comparison.run();
      return compared;
    }
    if (client.get(key, into) != value.byteSize()) {
      throw new IllegalStateException("a get did not find its object");
    }
    return gets;
  }

  /** Starts the thread. */
  public void start(double operationsPerSecond) {
    double intervalNs = 1e9 / operationsPerSecond;
    // The thread that measured the full rate owned the client until now.
    client.handOver();
    thread = new Thread(() -> run(intervalNs), "paced-load");
    thread.start();
  }

  private void run(double intervalNs) {
    try {
      MemorySegment into = Arena.ofAuto().allocate(value.byteSize(), 8);
      long startNs = System.nanoTime();
      for (long i = 0; !stopped; i++) {
        long dueNs = startNs + (long) (i * intervalNs);
        while (System.nanoTime() - dueNs < 0) {
          Thread.onSpinWait();
        }
        long calledNs = System.nanoTime();
        SingleWriterRecorder times = operation(i, into);
        long doneNs = System.nanoTime();
        times.recordValue(Math.min(doneNs - calledNs, HIGHEST_NS));
        due.recordValue(Math.min(doneNs - dueNs, HIGHEST_NS));
      }
    } catch (RuntimeException | Error e) {
      failure.set(e);
    }
  }

  /**
   * Times since the last call.
   *
   * @throws IllegalStateException when the load failed
   */
  public Times take() {
    Throwable failed = failure.get();
    if (failed != null) {
      throw new IllegalStateException("the load ended: " + failed.getMessage(), failed);
    }
    return new Times(
        gets.getIntervalHistogram(),
        puts.getIntervalHistogram(),
        compared.getIntervalHistogram(),
        due.getIntervalHistogram());
  }

  /**
   * Times, ns.
   *
   * @param gets from their calls
   * @param puts from their calls
   * @param compared of the comparison; empty when there is none
   * @param due of all operations, from when they were due
   */
  public record Times(Histogram gets, Histogram puts, Histogram compared, Histogram due) {
    void add(Times more) {
      gets.add(more.gets);
      puts.add(more.puts);
      compared.add(more.compared);
      due.add(more.due);
    }
  }

  @Override
  public void close() {
    stopped = true;
    try {
      if (thread != null) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    client.close();
  }
}
