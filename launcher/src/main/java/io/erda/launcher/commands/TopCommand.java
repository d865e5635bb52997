package io.erda.launcher.commands;

import io.erda.client.ErdaClient;
import io.erda.console.StandardOutput;
import io.erda.console.UserError;
import io.erda.protocol.ErdaException;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code erda top}: a server's figures, live. */
@Command(
    name = "top",
    description =
        "Show what a server does, anew each second, until Ctrl-C. Where the output is no terminal,"
            + " or a plain one (TERM=dumb), one view follows the other.",
    footer = {"", "  ./erda top --uri erda+shm:/var/lib/erda"})
public final class TopCommand implements Callable<Integer> {
  private static final long ENDING_MS_MAX = 2_000;
  private static final long RESTORING_MS_MAX = 1_000;

  @Spec private CommandSpec spec;
  @Mixin private ConnectionOptions connection;

  @Option(
      names = "--every",
      paramLabel = "SECONDS",
      defaultValue = "1",
      description = "Time between two views; 1 by default.")
  private int every;

  @Option(
      names = "--count",
      paramLabel = "N",
      description = "End after so many views; until Ctrl-C by default.")
  private Integer count;

  private volatile boolean ending;

  @Override
  public Integer call() {
    if (every < 1) {
      throw new UserError("--every must be at least 1: " + every, 2);
    }
    if (count != null && count < 1) {
      throw new UserError("--count must be at least 1: " + count, 2);
    }
    boolean terminal = StandardOutput.isTerminal() && isCapable(System.getenv("TERM"));
    TopScreen screen = new TopScreen(spec.commandLine().getOut(), terminal);
    CountDownLatch ended = new CountDownLatch(1);
    Thread hook = endCleanly(Thread.currentThread(), ended, screen);
    try (ErdaClient client = connection.connect()) {
      show(client, screen);
    } finally {
      screen.end();
      ended.countDown();
      removeHook(hook);
    }
    return 0;
  }

  private static boolean isCapable(String terminal) {
    return terminal != null && !terminal.isEmpty() && !terminal.equals("dumb");
  }

  private void show(ErdaClient client, TopScreen screen) {
    Map<String, Long> before = null;
    long beforeNs = 0;
    for (int views = 0; !ending && (count == null || views < count); views++) {
      if (views > 0 && !sleep()) {
        return;
      }
      String view;
      long nowNs = System.nanoTime();
      try {
        Map<String, Long> now = client.stats();
        nowNs = System.nanoTime();
        view = TopView.of(connection.uri(), before, now, nowNs - beforeNs);
        before = now;
        beforeNs = nowNs;
      } catch (ErdaException.Unavailable e) {
        before = null;
        view = connection.uri() + " does not answer: " + e.getMessage() + "\n";
      }
      if (!screen.show(view)) {
        return;
      }
    }
  }

  /** Sleeps. Returns false when the command must end. */
  private boolean sleep() {
    try {
      TimeUnit.SECONDS.sleep(every);
      return !ending;
    } catch (InterruptedException e) {
      // Only the hook interrupts, and a shell on Ctrl-C.
      return false;
    }
  }

  /**
   * A signal is the normal end of this command: the hook closes the connection and restores the
   * terminal, and the exit code is 0. If closing takes too long, because the server is gone, the
   * process ends without it.
   */
  private Thread endCleanly(Thread worker, CountDownLatch ended, TopScreen screen) {
    Thread hook =
        new Thread(
            () -> {
              ending = true;
              worker.interrupt();
              try {
                if (!ended.await(ENDING_MS_MAX, TimeUnit.MILLISECONDS)) {
                  restore(screen);
                }
              } catch (InterruptedException e) {
                // The process ends in any case.
              }
              Runtime.getRuntime().halt(0);
            },
            "end-top");
    Runtime.getRuntime().addShutdownHook(hook);
    return hook;
  }

  /**
   * Restores the terminal in a thread of its own, because a blocked terminal must not keep the
   * process alive.
   */
  private static void restore(TopScreen screen) throws InterruptedException {
    Thread restoring = new Thread(screen::end, "restore-screen");
    restoring.setDaemon(true);
    restoring.start();
    restoring.join(RESTORING_MS_MAX);
  }

  private static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The hook runs already: the process ends.
    }
  }
}
