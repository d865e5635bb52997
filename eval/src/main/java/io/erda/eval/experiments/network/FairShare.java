package io.erda.eval.experiments.network;

import io.erda.client.ErdaClient;
import io.erda.eval.process.ProcessException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.function.Supplier;

/**
 * Measures how evenly a server treats many connections, each with its own thread that does one
 * operation after the other. They stay connected between measurements.
 */
public final class FairShare implements AutoCloseable {
  /** Operations between two reads of the clock. */
  private static final int STRIDE = 8;

  private final List<User> users = new ArrayList<>();
  private final CountDownLatch connected;
  private final CyclicBarrier begin;
  private final CyclicBarrier end;
  private final Supplier<Connection> connect;
  private volatile long deadlineNs;
  private volatile boolean closed;

  /**
   * Connects, and returns when all are connected.
   *
   * @param connect called by each thread to connect
   * @throws ProcessException when a connection failed; then all are closed
   */
  public FairShare(int connections, Supplier<Connection> connect) {
    this.connect = connect;
    this.connected = new CountDownLatch(connections);
    this.begin = new CyclicBarrier(connections + 1);
    this.end = new CyclicBarrier(connections + 1);
    for (int i = 0; i < connections; i++) {
      users.add(new User(i));
    }
    users.forEach(Thread::start);
    boolean allConnected = false;
    try {
      connected.await();
      throwFailure();
      allConnected = true;
    } catch (InterruptedException e) {
      throw interrupted(e);
    } finally {
      if (!allConnected) {
        close();
      }
    }
  }

  /** Connections that only get. */
  public static FairShare ofGets(
      String uri, int connections, MemorySegment[] keys, int valueBytes) {
    return new FairShare(connections, () -> new Gets(ErdaClient.connect(uri), keys, valueBytes));
  }

  /** Connections that only put one value. */
  public static FairShare ofPuts(
      String uri, int connections, MemorySegment[] keys, MemorySegment value) {
    return new FairShare(connections, () -> new Puts(ErdaClient.connect(uri), keys, value));
  }

  private record Puts(ErdaClient client, MemorySegment[] keys, MemorySegment value)
      implements Connection {
    @Override
    public void operate(int number) {
      client.put(keys[number % keys.length], value);
    }

    @Override
    public void close() {
      client.close();
    }
  }

  /** One connection. One thread makes, uses and closes it. */
  public interface Connection extends AutoCloseable {
    /**
     * Does one operation.
     *
     * @param number of the operation, counted up
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

  /** The result of one measurement: operations by connection, in ascending order. */
  public record Shares(long[] operations, long elapsedNs) {
    public double slowestOfMedian() {
      return operations[0] / (double) operations[operations.length / 2];
    }

    public double perSecond() {
      return Arrays.stream(operations).sum() * 1e9 / elapsedNs;
    }
  }

  /** Lets all connections operate for this time. */
  public Shares run(long forNs) {
    long startNs = System.nanoTime();
    deadlineNs = startNs + forNs;
    await(begin);
    await(end);
    long elapsedNs = System.nanoTime() - startNs;
    throwFailure();
    return new Shares(users.stream().mapToLong(each -> each.done).sorted().toArray(), elapsedNs);
  }

  private void throwFailure() {
    for (User user : users) {
      if (user.failure != null) {
        throw new ProcessException("a connection failed: " + user.failure, user.failure);
      }
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (InterruptedException e) {
      throw interrupted(e);
    } catch (BrokenBarrierException e) {
      throw new ProcessException("another thread was interrupted", e);
    }
  }

  private static ProcessException interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    return new ProcessException("interrupted", e);
  }

  /** Returns when all connections are closed. */
  @Override
  public void close() {
    closed = true;
    // A thread that has ended by itself would block the others at the barrier.
    users.forEach(Thread::interrupt);
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
    private int next;
    private volatile long done;
    private volatile Throwable failure;

    User(int number) {
      super("fair-" + number);
      setDaemon(true);
      this.next = number;
    }

    @Override
    public void run() {
      try (Connection connection = connection()) {
        while (!closed) {
          await(begin);
          done = operate(connection);
          await(end);
        }
      } catch (RuntimeException | Error e) {
        if (!closed) {
          failure = e;
        }
      }
    }

    private Connection connection() {
      try {
        return connect.get();
      } catch (RuntimeException | Error e) {
        failure = e;
        throw e;
      } finally {
        connected.countDown();
      }
    }

    private long operate(Connection connection) {
      long operations = 0;
      try {
        while (System.nanoTime() - deadlineNs < 0) {
          for (int i = 0; i < STRIDE; i++) {
            connection.operate(next++);
          }
          operations += STRIDE;
        }
      } catch (RuntimeException | Error e) {
        failure = e;
      }
      return operations;
    }
  }
}
