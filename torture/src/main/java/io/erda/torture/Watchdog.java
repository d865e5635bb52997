package io.erda.torture;

import io.erda.client.ClientOptions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Detects calls that take longer than the client's time-outs allow. It only counts the time in
 * which this process could run: a process stopped by a signal is not late.
 */
final class Watchdog implements AutoCloseable {
  /** The options of every client of the torture. */
  static final ClientOptions OPTIONS =
      ClientOptions.DEFAULT
          .withConnectTimeout(Duration.ofSeconds(2))
          // Longer than the time for which a request for space waits for cleaning before the log
          // counts as full.
          .withOperationTimeout(Duration.ofSeconds(6))
          // Few, so that the history of a key can be decided.
          .withPipelineDepth(4);

  /**
   * Additional time for a machine with fewer cores than busy threads, and for taking requests back.
   */
  private static final long GRACE_NS = 5_000_000_000L;

  /** The longest that one operation may take. */
  static final long OPERATION_NS = OPTIONS.operationTimeout().toNanos() + GRACE_NS;

  /** The longest that connecting may take. */
  static final long CONNECT_NS = OPTIONS.connectTimeout().toNanos() + GRACE_NS;

  /** The longest that closing may take, whatever other threads do with the client. */
  static final long CLOSE_NS = GRACE_NS;

  /** The exit code of a process in which a call hung. */
  private static final int EXIT_CODE = 3;

  private static final long TICK_NS = 50_000_000;
  private static final int FRAMES = 8;

  /** One thread's calls, one at a time. */
  final class Watch {
    private Thread thread;
    private String what;
    private long limitNs;
    private long sinceNs;

    /** Notes that a call begins. */
    synchronized void begin(String call, long atMostNs) {
      thread = Thread.currentThread();
      what = call;
      limitNs = atMostNs;
      sinceNs = awakeNs;
    }

    /** Notes that the call has ended. */
    synchronized void end() {
      what = null;
    }

    private synchronized String late() {
      return what == null || awakeNs - sinceNs <= limitNs
          ? null
          : what + " takes longer than " + limitNs / 1_000_000 + " ms: " + stack(thread);
    }
  }

  private final List<Watch> watches = new CopyOnWriteArrayList<>();
  private final Consumer<String> onLate;
  private volatile long awakeNs;
  private volatile boolean closed;

  /** A watchdog that ends its process, because the hanging thread may be unable to. */
  Watchdog() {
    this(late -> {
      Complaint.say(late);
      Runtime.getRuntime().halt(EXIT_CODE);
    });
  }

  /**
   * @param onLate receives a description of a late call, in the watchdog's thread
   */
  Watchdog(Consumer<String> onLate) {
    this.onLate = onLate;
    Thread thread = new Thread(this::run, "watchdog");
    thread.setDaemon(true);
    thread.start();
  }

  Watch watch() {
    Watch watch = new Watch();
    watches.add(watch);
    return watch;
  }

  /** Removes a watch that is not used any more. */
  void forget(Watch watch) {
    watches.remove(watch);
  }

  /** How long this process could run so far. */
  long awakeNs() {
    return awakeNs;
  }

  private void run() {
    long lastNs = System.nanoTime();
    long ranNs = 0;
    while (!closed) {
      LockSupport.parkNanos(TICK_NS);
      long nowNs = System.nanoTime();
      ranNs += Math.min(nowNs - lastNs, 2 * TICK_NS);
      awakeNs = ranNs;
      lastNs = nowNs;
      for (Watch watch : watches) {
        String late = watch.late();
        if (late != null) {
          onLate.accept(late);
          watch.end();
        }
      }
    }
  }

  /** Reports that something else is late. */
  void late(String what) {
    onLate.accept(what);
  }

  @Override
  public void close() {
    closed = true;
  }

  private static String stack(Thread thread) {
    return Arrays.stream(thread.getStackTrace())
        .limit(FRAMES)
        .map(StackTraceElement::toString)
        .collect(Collectors.joining(" < "));
  }
}
