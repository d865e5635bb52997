package io.erda.eval.experiments.network;

import io.erda.client.ErdaClient;
import io.erda.eval.process.ProcessException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.function.Supplier;

/**
 * Many connections to one server, each with a thread of its own that does one operation after the
 * other, and how evenly they come off. They stay connected from one measurement to the next.
 */
public final class FairShare implements AutoCloseable {
  /** Operations between two looks at the clock. */
  private static final int STRIDE = 8;

  private final List<User> users = new ArrayList<>();
  private final CyclicBarrier begin;
  private final CyclicBarrier end;
  private final Supplier<Connection> connect;
  private volatile long deadlineNs;
  private volatile boolean closed;

  /**
   * Connects.
   *
   * @param connect each thread connects with it
   */
  public FairShare(int connections, Supplier<Connection> connect) {
    this.connect = connect;
    this.begin = new CyclicBarrier(connections + 1);
    this.end = new CyclicBarrier(connections + 1);
    for (int i = 0; i < connections; i++) {
      users.add(new User(i));
    }
    users.forEach(Thread::start);
  }

  /** Connections that get. */
  public static FairShare ofGets(
      String uri, int connections, MemorySegment[] keys, int valueBytes) {
    return new FairShare(connections, () -> new Gets(ErdaClient.connect(uri), keys, valueBytes));
  }

  /** One connection. It is made, used and closed by one thread. */
  public interface Connection extends AutoCloseable {
    /**
     * Does one operation.
     *
     * @param number from one operation to the next it is one more
     */
    void operate(int number);

    @Override
    void close();
  }

  private record Gets(ErdaClient client, MemorySegment[] keys, int valueBytes, MemorySegment into)
      implements Connection {
    Gets(ErdaClient client, MemorySegment[] keys, int valueBytes) {
      this(client, keys, valueBytes, Arena.ofAuto().allocate(valueBytes, 8));
    }

    @Override
    public void operate(int number) {
      if (client.get(keys[number % keys.length], into) != valueBytes) {
        throw new ProcessException("a get did not find its value");
      }
    }

    @Override
    public void close() {
      client.close();
    }
  }

  /** What came of one measurement, operations by connection, in ascending order. */
  public record Shares(long[] operations, long elapsedNs) {
    public double slowestOfMedian() {
      return operations[0] / (double) operations[operations.length / 2];
    }

    public double perSecond() {
      return Arrays.stream(operations).sum() * 1e9 / elapsedNs;
    }
  }

  /** Lets all connections operate for so long. */
  public Shares run(long forNs) {
    long startNs = System.nanoTime();
    deadlineNs = startNs + forNs;
    await(begin);
    await(end);
    long elapsedNs = System.nanoTime() - startNs;
    for (User user : users) {
      if (user.failure != null) {
        throw new ProcessException("a connection failed: " + user.failure, user.failure);
      }
    }
    return new Shares(users.stream().mapToLong(each -> each.done).sorted().toArray(), elapsedNs);
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

  /** Returns when all connections are closed. */
  @Override
  public void close() {
    closed = true;
    await(begin);
    try {
      for (User user : users) {
        user.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The thread of a connection. */
  private final class User extends Thread {
    private final int first;
    private volatile long done;
    private volatile Exception failure;

    User(int number) {
      super("fair-" + number);
      setDaemon(true);
      this.first = number;
    }

    @Override
    public void run() {
      try (Connection connection = connect.get()) {
        int next = first;
        while (true) {
          await(begin);
          if (closed) {
            return;
          }
          long operations = 0;
          try {
            while (System.nanoTime() - deadlineNs < 0) {
              for (int i = 0; i < STRIDE; i++) {
                connection.operate(next++);
              }
              operations += STRIDE;
            }
          } catch (RuntimeException e) {
            failure = e;
          }
          done = operations;
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
