package io.erda.testbed;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code testbed/powercuts}, which builds the guest and starts this class. The script has the help.
 */
@Command(name = "testbed/powercuts", sortOptions = false, usageHelpAutoWidth = true)
public final class PowerCuts implements Callable<Integer>, DiskSession.Inspector {
  /** The exit code when nothing could be tested. */
  private static final int NO_GUEST = 75;

  /** The most guests that may boot and then fail by themselves. */
  private static final int GUESTS_LOST_MAX = 3;

  private static final int KEPT_MAX = 5;
  private static final int GRACE_SECONDS = 120;

  @Spec private CommandSpec spec;

  @Option(
      names = "--cuts",
      paramLabel = "N",
      description = "How many cuts to check; 100 by default.")
  private int cuts = 100;

  @Option(
      names = "--short",
      description = "What the build does: 36 cuts over all file systems, at most 5 minutes.")
  private boolean shortForm;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description =
          "Cut no more after so many seconds, and give up two minutes later; no limit by default.")
  private Integer secondsMax;

  @Option(
      names = "--fs",
      split = ",",
      paramLabel = "NAME",
      description =
          "File systems, one after the other: ext4, xfs, dax (ext4 on an NVDIMM with MAP_SYNC); all"
              + " by default.")
  private List<Disk.Kind> kinds = List.of(Disk.Kind.values());

  @Option(
      names = "--promises",
      split = ",",
      paramLabel = "NAME",
      description =
          "With which promise a store is opened, one after the other and over again: power, none"
              + " (for none asked); by chance by default.")
  private List<String> promises = List.of();

  @Option(
      names = "--seed",
      paramLabel = "N",
      description =
          "Decides what is opened in which order and when the power is cut, as far as two runs of"
              + " an emulator are alike; chosen and printed by default.")
  private Long seed;

  @Option(
      names = "--keep",
      paramLabel = "DIR",
      description =
          "Where the disks, consoles and logs of failing cuts are left; target/testbed/failed by"
              + " default.")
  private Path keep;

  @Option(
      names = "--erda",
      paramLabel = "DIR",
      description = "Source tree of the Erda that is tried; this one by default.")
  private Path erda;

  // Prepared by testbed/powercuts.
  @Option(names = "--image", hidden = true, required = true)
  private Path image;

  @Option(names = "--app", hidden = true, required = true)
  private Path app;

  @Option(names = "--work", hidden = true, required = true)
  private Path work;

  @Option(names = "--java", hidden = true, required = true)
  private String java;

  @Option(names = "--jvm-flags", hidden = true, required = true)
  private String flags;

  private final CutCounts tally = new CutCounts();
  private PrintWriter out;
  private HostJvm jvm;
  private long endNs;
  private long sessionEndNs;
  private int sessionCuts;
  private int begun;
  private int kept;
  private Path session;
  private ThreadPoolExecutor checks;

  /**
   * Number of cuts whose checks have not ended. The pool's own counts miss a task that is just
   * being taken.
   */
  private final AtomicInteger unchecked = new AtomicInteger();

  /** Exits with the command's exit code. */
  public static void main(String[] args) {
    System.exit(
        new CommandLine(new PowerCuts()).setCaseInsensitiveEnumValuesAllowed(true).execute(args));
  }

  @Override
  public Integer call() throws IOException {
    out = spec.commandLine().getOut();
    jvm = new HostJvm(java, List.of(flags.split(" ")), System.getProperty("java.class.path"));
    for (String promise : promises) {
      if (!promise.equals("power") && !promise.equals("none")) {
        throw new CommandLine.ParameterException(
            spec.commandLine(), "--promises: power or none, not '" + promise + "'");
      }
    }
    if (shortForm) {
      cuts = 36;
      secondsMax = secondsMax == null ? 300 : secondsMax;
    }
    int seconds = secondsMax == null ? Integer.MAX_VALUE / 2 : secondsMax;
    endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    giveUp(seconds + GRACE_SECONDS);
    if (erda != null) {
      out.println("tried: " + erda);
    }
    long first = seed == null ? new Random().nextInt(1 << 30) : seed;
    out.println(
        "seed " + first + " (again: testbed/powercuts --cuts " + cuts + " --seed " + first + ")");
    // One check at a time beside the guest; faster cuts wait.
    checks =
        new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(4),
            (task, pool) -> {
              try {
                pool.getQueue().put(task);
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    checks.prestartAllCoreThreads();
    Thread interrupted = new Thread(() -> tally.print(out), "interrupted");
    Runtime.getRuntime().addShutdownHook(interrupted);
    String noGuest = null;
    try {
      sessions(new Guest.Parts(image, app), first);
    } catch (IOException e) {
      noGuest = e.getMessage();
    } finally {
      awaitChecks();
    }
    Runtime.getRuntime().removeShutdownHook(interrupted);
    tally.print(out);
    if (noGuest != null) {
      out.println("ended early: " + noGuest);
    }
    out.flush();
    return tally.failed() > 0 ? 1 : noGuest != null ? NO_GUEST : 0;
  }

  /** Ends the process after a time; the checks done until then count. */
  private void giveUp(int seconds) {
    Thread thread =
        new Thread(
            () -> {
              Guest.sleep(seconds * 1000L);
              tally.print(out);
              out.println("ended early: " + seconds + " seconds have passed");
              out.flush();
              Runtime.getRuntime().halt(tally.failed() > 0 ? 1 : NO_GUEST);
            },
            "give-up");
    thread.setDaemon(true);
    thread.start();
  }

  private void sessions(Guest.Parts parts, long first) throws IOException {
    int guestsLost = 0;
    Path blankDax = null;
    int share = (cuts + kinds.size() - 1) / kinds.size();
    for (int number = 0; begun < cuts && System.nanoTime() - endNs < 0; number++) {
      beginSession(share, kinds.size() - number);
      Disk.Kind kind = kinds.get(number % kinds.size());
      session = Files.createDirectory(work.resolve("session-" + number));
      Path file = session.resolve("disk");
      Path log = session.resolve("host.log");
      Disk disk;
      if (kind == Disk.Kind.DAX) {
        if (blankDax == null) {
          blankDax = DiskSession.formatDax(parts, work.resolve("dax-blank"), session).file();
        }
        disk = new Disk(kind, blankDax).copy(file, log);
      } else {
        disk = Disk.create(kind, file, log);
      }
      int before = tally.failed();
      DiskSession life = new DiskSession(parts, session, disk, this, promises, first + number);
      try {
        life.live();
      } catch (IOException | UncheckedIOException e) {
        if (++guestsLost == GUESTS_LOST_MAX) {
          throw new IOException(e.getMessage(), e);
        }
        out.println("a guest failed, and the next session begins: " + e.getMessage());
      }
      awaitChecks();
      out.printf(
          "%s: %d cuts, %d failures so far; %s%n",
          kind, tally.cuts(), tally.failed(), life.order());
      out.flush();
      if (tally.failed() == before) {
        delete(session);
      }
    }
  }

  @Override
  public synchronized boolean wantsMore() {
    return begun < sessionCuts && System.nanoTime() - sessionEndNs < 0;
  }

  /** Begins a session, which takes its share of the cuts and of the remaining time. */
  private synchronized void beginSession(int share, int kindsLeft) {
    sessionCuts = Math.min(cuts, begun + share);
    long now = System.nanoTime();
    sessionEndNs = now + (endNs - now) / Math.max(1, kindsLeft);
  }

  @Override
  public void inspect(DiskSession.CutDisk cut) {
    synchronized (this) {
      begun++;
    }
    unchecked.incrementAndGet();
    checks.execute(() -> {
      try {
        check(cut);
      } finally {
        unchecked.decrementAndGet();
      }
    });
  }

  private void check(DiskSession.CutDisk cut) {
    Path directory = cut.disk().file().resolveSibling("check");
    Cut result;
    try {
      Files.createDirectory(directory);
      // The check changes a disk, so a copy as the cut left it is kept.
      Disk copy = cut.disk().copy(directory.resolve("disk"), directory.resolve("copy.log"));
      result =
          new CutCheck(directory, jvm, cut.how())
              .check(copy, cut.order(), cut.phase(), cut.claim());
      delete(directory.resolve("disk"));
    } catch (IOException | RuntimeException e) {
      result =
          new Cut(
              cut.disk().kind(),
              cut.order(),
              cut.phase(),
              cut.claim().power(),
              List.of("the check failed: " + e),
              0,
              Cut.Opening.FAILED);
    }
    boolean failed = result.failed();
    tally.add(result);
    if (failed) {
      failed(result, cut.disk().file().getParent(), "how: " + cut.how());
    } else {
      delete(cut.disk().file().getParent());
    }
  }

  private synchronized void failed(Cut cut, Path directory, String how) {
    out.printf("FAILED: %s, %s, in %s, %s%n", cut.disk(), cut.order(), cut.phase(), how);
    cut.problems().forEach(problem -> out.println("  " + problem));
    if (kept < KEPT_MAX) {
      kept++;
      Path to = keep.resolve("cut-" + System.currentTimeMillis());
      HostShell.must(work.resolve("keep.log"), "mkdir", "-p", keep.toString());
      HostShell.must(
          work.resolve("keep.log"),
          "cp",
          "-r",
          "--sparse=always",
          directory.toString(),
          to.toString());
      out.println("  kept in " + to);
    }
    out.flush();
  }

  @Override
  public void trouble(Disk.Kind disk, String order, Cut.Phase phase, List<String> lines) {
    Cut cut = new Cut(disk, order, phase, false, lines, 0, Cut.Opening.QUIET);
    tally.addTrouble();
    failed(cut, session, "in the guest");
  }

  private void awaitChecks() {
    while (unchecked.get() > 0) {
      Guest.sleep(50);
    }
  }

  private static void delete(Path path) {
    try (Stream<Path> all = Files.walk(path)) {
      all.sorted(Comparator.reverseOrder()).forEach(PowerCuts::deleteOne);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void deleteOne(Path path) {
    try {
      Files.delete(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
