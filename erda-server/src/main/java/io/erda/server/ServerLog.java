package io.erda.server;

import io.erda.pmem.CopyOnWrite;
import io.erda.rdma.RefusalListener;
import io.erda.server.engine.events.ServiceListener;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The log of a server: one line for each event, on a logger of the application.
 *
 * <p>The server's thread does not wait for the logger: lines go through a bounded queue to the
 * thread of the log. When lines did not fit into the queue, the log states their number. Each kind
 * of line that a peer can provoke is logged at most {@link #LINES_MAX} times in {@link #SPAN_NS};
 * the next line of the kind states how many are missing. Any thread may log.
 */
final class ServerLog implements ServiceListener, RefusalListener, AutoCloseable {
  /** The most lines of one kind in a span of time. */
  static final int LINES_MAX = 10;

  static final long SPAN_NS = 10_000_000_000L;

  private static final int QUEUE_MAX = 1024;
  private static final long CLOSING_MS_MAX = 5_000;

  /** A line to be written, and how many are missing before it. A null level ends the thread. */
  private record Line(Level level, String text, long missing) {}

  /** Limits the rate of one kind of line. Guarded by itself. */
  private final class Kind {
    private long spanNs;
    private int lines;
    private long withheld;

    /**
     * Returns null when a line of this kind may not be logged now; otherwise the text to append to
     * it, which is usually empty.
     */
    synchronized String turn() {
      long nowNs = nanoTime.getAsLong();
      if (lines == 0 || nowNs - spanNs >= SPAN_NS) {
        spanNs = nowNs;
        lines = 0;
      }
      if (lines >= LINES_MAX) {
        withheld++;
        return null;
      }
      lines++;
      String behind = withheld == 0 ? "" : " (and " + withheld + " like it before, not logged)";
      withheld = 0;
      return behind;
    }
  }

  private final Logger logger;
  private final LongSupplier nanoTime;
  private final ArrayBlockingQueue<Line> queue = new ArrayBlockingQueue<>(QUEUE_MAX);
  private final Thread writer;
  private final Kind connected = new Kind();
  private final Kind left = new Kind();
  private final Kind misbehaved = new Kind();
  private final Kind refused = new Kind();
  private final Kind full = new Kind();
  private final Kind overQuota = new Kind();
  private final Kind leftBehind = new Kind();
  private final Kind undone = new Kind();
  private final Kind trouble = new Kind();
  private final Kind noFile = new Kind();
  private final Kind fileAgain = new Kind();

  /** The kinds of refusals by devices, by the figure that counts them. */
  private final Map<String, Kind> refusedByDevice = new ConcurrentHashMap<>();

  private final boolean debug;

  /** Lines that were dropped since the last one that fitted. Guarded by this. */
  private long missing;

  /**
   * Starts the thread.
   *
   * @param failures is told the error that ends the thread
   */
  ServerLog(Logger logger, LongSupplier nanoTime, Failures failures) {
    this.logger = logger;
    this.nanoTime = nanoTime;
    this.debug = logger.isLoggable(Level.DEBUG);
    this.writer = SideThreads.start(this::write, "erda-log", failures);
  }

  synchronized void say(Level level, String text) {
    missing = queue.offer(new Line(level, text, missing)) ? 0 : missing + 1;
  }

  private void say(Level level, Kind kind, String text) {
    String behind = kind.turn();
    if (behind != null) {
      say(level, text + behind);
    }
  }

  /** Logs that a store is served from now on. */
  void started(OpenedStore store, List<String> uris) {
    String copied = CopyOnWrite.look(store.data());
    if (copied != null) {
      say(
          Level.WARNING,
          copied
              + ": when the file system is full, puts of keys that are there find no room either"
              + " (erda doctor says more)");
    }
    String kept = DirectMemory.warning();
    if (kept != null) {
      say(Level.WARNING, kept);
    }
    store.engine().recovery().notes().forEach(note -> say(Level.INFO, "recovery: " + note));
    say(
        Level.INFO,
        "serves %s at %s (version %s, store %s, promise %s, puts %s)"
            .formatted(
                store.data(),
                String.join(" and ", uris),
                ErdaVersion.ofBuild(),
                store.engine().storeId(),
                store.engine().promise().name().toLowerCase(Locale.ROOT),
                store.engine().putMode().name().toLowerCase(Locale.ROOT)));
  }

  @Override
  public void connected(int clientId, String peer) {
    if (debug) {
      say(Level.DEBUG, connected, "client " + clientId + " connected (" + peer + ")");
    }
  }

  @Override
  public void left(int clientId, String peer, boolean ended) {
    if (ended) {
      say(
          Level.WARNING,
          misbehaved,
          "ended the connection of client "
              + clientId
              + " ("
              + peer
              + "): what it sent is none of the protocol");
    } else if (debug) {
      say(Level.DEBUG, left, "client " + clientId + " left");
    }
  }

  @Override
  public void refused(String peer, String why) {
    say(Level.WARNING, refused, "refused a client (" + peer + "): " + why);
  }

  @Override
  public void refused(String peer, String figure, String why) {
    // Each figure has a separate limit, so that a flood of garbage does not suppress the lines
    // about guesses at a secret.
    Kind kind = refusedByDevice.computeIfAbsent(figure, name -> new Kind());
    say(Level.WARNING, kind, "refused a client (" + peer + "): " + why);
  }

  @Override
  public void trouble(String what) {
    say(Level.WARNING, trouble, what);
  }

  @Override
  public void full(String what, int clientId, long bytes) {
    say(
        Level.WARNING,
        full,
        "%s: refused a request of client %d for %d bytes"
            .formatted(
                switch (what) {
                  case "FILE" -> "a file of the log may not be so large";
                  case "BUCKET" -> "a bucket of the table is full";
                  default -> "the " + what.toLowerCase(Locale.ROOT) + " is full";
                },
                clientId,
                bytes));
  }

  @Override
  public void noFile(String why) {
    say(
        Level.WARNING,
        noFile,
        "no file can be made for the log, so puts are refused when what there is is used up;"
            + " deletes and gets go on: "
            + why);
  }

  @Override
  public void fileAgain() {
    say(Level.INFO, fileAgain, "files for the log can be made again");
  }

  @Override
  public void overQuota(String why, int clientId, String peer) {
    say(
        Level.WARNING,
        overQuota,
        "refused a request of client " + clientId + " (" + peer + "): " + why);
  }

  @Override
  public void leftBehind(String what) {
    say(Level.WARNING, leftBehind, what);
  }

  @Override
  public void undone(String what) {
    say(Level.WARNING, undone, what);
  }

  @Override
  public void cleaned(
      int head, int region, boolean freed, long bytesLive, long bytesCopied, long tookNs) {
    say(
        Level.INFO,
        "cleaned head %d, region %d in %s: %s, %d bytes lived in it, %d were copied"
            .formatted(
                head, region, time(tookNs), freed ? "freed" : "kept", bytesLive, bytesCopied));
  }

  @Override
  public void doubled(long fromBuckets, long toBuckets, long entries, long tookNs) {
    sayResized("doubled", fromBuckets, toBuckets, entries, tookNs);
  }

  @Override
  public void halved(long fromBuckets, long toBuckets, long entries, long tookNs) {
    sayResized("halved", fromBuckets, toBuckets, entries, tookNs);
  }

  @Override
  public void turned(long fromBuckets, long toBuckets) {
    say(
        Level.INFO,
        "the table stays at %d buckets: of %d, one would be shared by more keys than fit"
            .formatted(toBuckets, fromBuckets));
  }

  private void sayResized(
      String what, long fromBuckets, long toBuckets, long entries, long tookNs) {
    say(
        Level.INFO,
        "%s the table from %d to %d buckets%s: it has %s entries"
            .formatted(
                what,
                fromBuckets,
                toBuckets,
                tookNs < 0 ? "" : " in " + time(tookNs),
                entries < 0 ? "some" : Long.toString(entries)));
  }

  private static String time(long ns) {
    return String.format(Locale.ROOT, "%.1f ms", ns / 1e6);
  }

  private void write() {
    try {
      Line line;
      do {
        line = queue.take();
        if (line.missing() > 0) {
          log(Level.WARNING, line.missing() + " lines are missing here: nobody read them in time");
        }
        if (line.level() != null) {
          log(line.level(), line.text());
        }
      } while (line.level() != null);
    } catch (InterruptedException e) {
      // The thread is interrupted only when the process is being ended.
    }
  }

  private void log(Level level, String text) {
    try {
      logger.log(level, text);
    } catch (RuntimeException e) {
      // When the application's logger throws, only this line is lost.
    }
  }

  /**
   * Ends the log. Returns when all lines are written, or when that takes too long. Later lines are
   * not logged.
   */
  @Override
  public void close() {
    boolean interrupted = false;
    try {
      Line end;
      synchronized (this) {
        end = new Line(null, "", missing);
      }
      if (queue.offer(end, CLOSING_MS_MAX, TimeUnit.MILLISECONDS)) {
        writer.join(CLOSING_MS_MAX);
      }
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
