package io.erda.launcher.commands;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.io.PrintWriter;
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
  private static final String BEGIN = "\u001b[?1049h\u001b[?25l";
  private static final String HOME = "\u001b[H";
  private static final String LINE_END = "\u001b[K\n";
  private static final String REST_EMPTY = "\u001b[J";
  private static final String END = "\u001b[?25h\u001b[?1049l";
  private static final long ENDING_MS_MAX = 2_000;

  @Spec private CommandSpec spec;
  @Mixin private Connection connection;

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
    boolean screen = StandardOutput.isTerminal() && isCapable(System.getenv("TERM"));
    CountDownLatch ended = new CountDownLatch(1);
    Thread hook = endCleanly(Thread.currentThread(), ended);
    PrintWriter out = spec.commandLine().getOut();
    try (ErdaClient client = connection.connect()) {
      out.print(screen ? BEGIN : "");
      show(client, out, screen);
    } finally {
      out.print(screen ? END : "");
      out.flush();
      ended.countDown();
      removeHook(hook);
    }
    return 0;
  }

  private static boolean isCapable(String terminal) {
    return terminal != null && !terminal.isEmpty() && !terminal.equals("dumb");
  }

  private void show(ErdaClient client, PrintWriter out, boolean screen) {
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
      if (!ending) {
        out.print(screen ? HOME + view.replace("\n", LINE_END) + REST_EMPTY : view + "\n");
        out.flush();
      }
    }
  }

  /** Returns false when it is time to end. */
  private boolean sleep() {
    try {
      TimeUnit.SECONDS.sleep(every);
      return !ending;
    } catch (InterruptedException e) {
      // Nobody interrupts but the hook.
      return false;
    }
  }

  /**
   * A signal is how this command ends: the connection is closed, the terminal is as it was, and
   * that is a success.
   */
  private Thread endCleanly(Thread worker, CountDownLatch ended) {
    Thread hook =
        new Thread(
            () -> {
              ending = true;
              worker.interrupt();
              try {
                ended.await(ENDING_MS_MAX, TimeUnit.MILLISECONDS);
              } catch (InterruptedException e) {
                // The process ends either way.
              }
              Runtime.getRuntime().halt(0);
            },
            "end-top");
    Runtime.getRuntime().addShutdownHook(hook);
    return hook;
  }

  private static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // It runs: the process ends.
    }
  }
}
