package io.erda.eval.experiments;

import io.erda.client.ErdaClient;
import io.erda.eval.process.ProcessException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/**
 * Many connections to one server, each with a thread of its own that gets one value after the
 * other, and how evenly they come off. They stay connected from one measurement to the next.
 */
final class FairShare implements AutoCloseable {
  private final List<Getter> getters = new ArrayList<>();
  private final CyclicBarrier begin;
  private final CyclicBarrier end;
  private final MemorySegment[] keys;
  private final int valueBytes;
  private volatile long deadlineNs;
  private volatile boolean closed;

  FairShare(String uri, int connections, MemorySegment[] keys, int valueBytes) {
    this.keys = keys;
    this.valueBytes = valueBytes;
    this.begin = new CyclicBarrier(connections + 1);
    this.end = new CyclicBarrier(connections + 1);
    for (int i = 0; i < connections; i++) {
      getters.add(new Getter(uri, i));
    }
    getters.forEach(Thread::start);
  }

  /** What came of one measurement, gets by connection, in ascending order. */
  record Shares(long[] gets, long elapsedNs) {
    double slowestOfMedian() {
      return gets[0] / (double) gets[gets.length / 2];
    }

    double perSecond() {
      return Arrays.stream(gets).sum() * 1e9 / elapsedNs;
    }
  }

  /** Lets all connections get for so long. */
  Shares run(long forNs) {
    long startNs = System.nanoTime();
    deadlineNs = startNs + forNs;
    await(begin);
    await(end);
    long elapsedNs = System.nanoTime() - startNs;
    for (Getter getter : getters) {
      if (getter.failure != null) {
        throw new ProcessException("a connection failed: " + getter.failure, getter.failure);
      }
    }
    return new Shares(getters.stream().mapToLong(each -> each.done).sorted().toArray(), elapsedNs);
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProcessException("interrupted", e);
    } catch (BrokenBarrierException e) {
      throw new ProcessException("another thread was interrupted", e);
    }
  }

  @Override
  public void close() {
    closed = true;
    await(begin);
  }

  /** One connection. */
  private final class Getter extends Thread {
    private final String uri;
    private final int first;
    private final MemorySegment into = Arena.ofAuto().allocate(valueBytes, 8);
    private volatile long done;
    private volatile Exception failure;

    Getter(String uri, int number) {
      super("fair-" + number);
      setDaemon(true);
      this.uri = uri;
      this.first = number;
    }

    @Override
    public void run() {
      try (ErdaClient client = ErdaClient.connect(uri)) {
        int next = first;
        while (true) {
          await(begin);
          if (closed) {
            return;
          }
          long gets = 0;
          try {
            while (System.nanoTime() - deadlineNs < 0) {
              if (client.get(keys[next++ % keys.length], into) != valueBytes) {
                throw new ProcessException("a get did not find its value");
              }
              gets++;
            }
          } catch (RuntimeException e) {
            failure = e;
          }
          done = gets;
          await(end);
        }
      } catch (RuntimeException e) {
        failure = e;
        begin.reset();
        end.reset();
      }
    }
  }
}
