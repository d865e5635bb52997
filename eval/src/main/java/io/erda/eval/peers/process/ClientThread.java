package io.erda.eval.peers.process;

import io.erda.eval.load.Zipfian;
import io.erda.eval.peers.process.PeerObjects.ObjectLost;
import io.erda.eval.peers.store.PeerStore;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A thread with an adapter of its own, which it keeps from turn to turn: an adapter that has just
 * been made may have pages to map, and a turn would measure that. Called by one other thread.
 */
final class ClientThread implements AutoCloseable {
  /**
   * Length of the sequence in which objects are chosen, if a choice is expensive: a power of two,
   * long enough that rare objects are in it.
   */
  private static final int SEQUENCE = 1 << 18;

  private final ExecutorService thread;
  private final int index;
  private final PeerStore store;
  private final PeerObjects objects;
  private final Supplier<Zipfian> zipfian;
  private int[] sequence;
  private int place;

  private ClientThread(
      ExecutorService thread,
      int index,
      PeerStore store,
      PeerObjects objects,
      Supplier<Zipfian> zipfian) {
    this.thread = thread;
    this.index = index;
    this.store = store;
    this.objects = objects;
    this.zipfian = zipfian;
  }

  /**
   * Starts a thread, which makes its adapter.
   *
   * @param index of the thread, for its name and its random numbers
   * @param shared the adapter of another thread
   * @param objects made for the new adapter
   * @param zipfian the distribution of all threads, if one is asked for
   */
  static ClientThread start(
      int index,
      PeerStore shared,
      Function<PeerStore, PeerObjects> objects,
      Supplier<Zipfian> zipfian)
      throws InterruptedException {
    ExecutorService thread =
        Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("client-" + index).factory());
    try {
      return await(
          index,
          thread.submit(() -> {
            PeerStore own = shared.another();
            return new ClientThread(thread, index, own, objects.apply(own), zipfian);
          }));
    } catch (ThreadFailed e) {
      thread.shutdown();
      throw e;
    }
  }

  /** A thread has failed. The message is complete. */
  static final class ThreadFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ThreadFailed(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** Begins a task in this thread. */
  <T> Future<T> begin(Callable<T> task) {
    return thread.submit(task);
  }

  /**
   * Waits for the result of a task.
   *
   * @throws ThreadFailed when it failed
   */
  <T> T await(Future<T> task) throws InterruptedException {
    return await(index, task);
  }

  private static <T> T await(int index, Future<T> task) throws InterruptedException {
    try {
      return task.get();
    } catch (ExecutionException e) {
      String why =
          e.getCause() instanceof ObjectLost lost ? lost.getMessage() : e.getCause().toString();
      throw new ThreadFailed("client thread " + index + " failed: " + why, e);
    }
  }

  PeerObjects objects() {
    return objects;
  }

  /**
   * Numbers of objects, chosen in this way, one for each call. Called in this thread, whose memory
   * they then are in.
   */
  LongSupplier numbers(KeyChoice keys) {
    return switch (keys) {
      case UNIFORM -> objects::anyNumber;
      case HOT -> () -> 0;
      case ZIPFIAN -> {
        int[] numbers = sequence();
        yield () -> numbers[place++ & SEQUENCE - 1];
      }
    };
  }

  private int[] sequence() {
    if (sequence == null) {
      Zipfian distribution = zipfian.get();
      SplittableRandom random = new SplittableRandom(index);
      sequence = new int[SEQUENCE];
      for (int i = 0; i < SEQUENCE; i++) {
        sequence[i] = distribution.next(random);
      }
    }
    return sequence;
  }

  /** Closes the adapter, and ends the thread. */
  @Override
  public void close() {
    thread.execute(store::close);
    thread.close();
  }
}
