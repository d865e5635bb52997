package io.erda.eval.peers.process;

import io.erda.eval.load.Zipfian;
import io.erda.eval.peers.process.ClientThread.ThreadFailed;
import io.erda.eval.peers.store.PeerStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Operations of several threads at the same time, each with an adapter of its own. All begin at
 * once, and the first part of a turn is not counted. Used by one thread.
 */
final class ThreadsTurn implements AutoCloseable {
  /** Operations between two reads of the clock. */
  private static final int STRIDE = 64;

  /** The part of a turn that is not counted, in percent. */
  private static final long WARMUP_PERCENT = 30;

  private final PeerStore store;
  private final long count;
  private final int valueBytes;
  private final LongSupplier nanoTime;
  private final List<ClientThread> threads = new ArrayList<>();
  private final AtomicLong inserted = new AtomicLong();
  private Zipfian zipfian;

  /** Set before all threads begin a turn. */
  private long startNs;

  private volatile boolean failed;

  /**
   * @param store of which each thread gets an adapter
   * @param count of its objects
   */
  ThreadsTurn(PeerStore store, long count, int valueBytes, LongSupplier nanoTime) {
    this.store = store;
    this.count = count;
    this.valueBytes = valueBytes;
    this.nanoTime = nanoTime;
  }

  /**
   * The operations that were counted.
   *
   * @param ns from the first of them to the last
   */
  record Counted(long operations, long ns) {}

  /** The work of one thread in a turn. */
  private interface Work {
    /** Does {@link #STRIDE} operations, or fewer, if there is no more work. Returns how many. */
    int stride();
  }

  /**
   * The operations of one thread in the part of a turn that counts.
   *
   * @param fromNs when it began
   * @param toNs when it ended
   */
  private record Share(long operations, long fromNs, long toNs) {}

  /**
   * Gets and updates objects.
   *
   * @param getsPercent how many of a hundred operations are gets
   * @throws ThreadFailed when a thread fails, for example because an object is missing
   */
  Counted run(int threadCount, int getsPercent, KeyChoice keys, long ns)
      throws InterruptedException {
    List<Work> works = new ArrayList<>();
    for (ClientThread thread : started(threadCount)) {
      PeerObjects objects = thread.objects();
      LongSupplier numbers = thread.await(thread.begin(() -> thread.numbers(keys)));
      works.add(() -> {
        for (int i = 0; i < STRIDE; i++) {
          long number = numbers.getAsLong();
          if (objects.any(100) < getsPercent) {
            objects.get(number);
          } else {
            objects.put(number);
          }
        }
        return STRIDE;
      });
    }
    return run(works, ns, () -> false);
  }

  /**
   * Inserts objects in the order of their numbers: from the first on, or from where the last such
   * turn ended.
   *
   * @param most the number of objects after which the turn ends before its time
   * @throws ThreadFailed when a thread fails
   */
  Counted insert(int threadCount, long most, long ns) throws InterruptedException {
    long first = inserted.get();
    long end = Math.min(count, first + most);
    long counted = first + (end - first) * WARMUP_PERCENT / 100;
    List<Work> works = new ArrayList<>();
    for (ClientThread thread : started(threadCount)) {
      PeerObjects objects = thread.objects();
      works.add(() -> {
        long from = inserted.getAndUpdate(next -> Math.min(end, next + STRIDE));
        long to = Math.min(end, from + STRIDE);
        for (long number = from; number < to; number++) {
          objects.put(number);
        }
        return (int) (to - from);
      });
    }
    return run(works, ns, () -> inserted.get() >= counted);
  }

  /**
   * Runs the work of each thread.
   *
   * @param isWarm whether the part that is not counted is over before its time
   */
  private Counted run(List<Work> works, long ns, BooleanSupplier isWarm)
      throws InterruptedException {
    failed = false;
    CyclicBarrier start = new CyclicBarrier(works.size(), () -> startNs = nanoTime.getAsLong());
    List<Future<Share>> shares = new ArrayList<>();
    for (int i = 0; i < works.size(); i++) {
      Work work = works.get(i);
      shares.add(threads.get(i).begin(() -> share(work, start, ns, isWarm)));
    }
    long operations = 0;
    long fromNs = 0;
    long toNs = 0;
    ThreadFailed failure = null;
    for (int i = 0; i < works.size(); i++) {
      try {
        Share share = threads.get(i).await(shares.get(i));
        if (share.operations == 0) {
          continue;
        }
        fromNs = operations == 0 || share.fromNs - fromNs < 0 ? share.fromNs : fromNs;
        toNs = operations == 0 || share.toNs - toNs > 0 ? share.toNs : toNs;
        operations += share.operations;
      } catch (ThreadFailed e) {
        failure = failure == null ? e : failure;
      }
    }
    if (failure != null) {
      throw failure;
    }
    return new Counted(operations, toNs - fromNs);
  }

  /** One thread's part of a turn. */
  private Share share(Work work, CyclicBarrier start, long ns, BooleanSupplier isWarm)
      throws InterruptedException, BrokenBarrierException {
    start.await();
    long warmNs = startNs + ns / 100 * WARMUP_PERCENT;
    long endNs = startNs + ns;
    boolean counts = false;
    long operations = 0;
    long fromNs = startNs;
    long nowNs;
    int done;
    try {
      do {
        done = work.stride();
        nowNs = nanoTime.getAsLong();
        if (counts) {
          operations += done;
        } else if (nowNs - warmNs >= 0 || isWarm.getAsBoolean()) {
          counts = true;
          fromNs = nowNs;
        }
        // A slow thread goes on until it has counted something.
      } while (done == STRIDE && (operations == 0 || nowNs - endNs < 0) && !failed);
      return new Share(operations, fromNs, nowNs);
    } catch (RuntimeException | Error e) {
      failed = true; // the other threads need not go on until the turn is over
      throw e;
    }
  }

  private List<ClientThread> started(int threadCount) throws InterruptedException {
    while (threads.size() < threadCount) {
      threads.add(
          ClientThread.start(
              threads.size(),
              store,
              own -> new PeerObjects(own, count, valueBytes),
              this::zipfian));
    }
    return threads.subList(0, threadCount);
  }

  private Zipfian zipfian() {
    if (zipfian == null) {
      zipfian = new Zipfian(Math.toIntExact(count));
    }
    return zipfian;
  }

  /** Closes the adapters, and ends the threads. */
  @Override
  public void close() {
    threads.forEach(ClientThread::close);
    threads.clear();
  }
}
