package io.erda.launcher.commands;

import io.erda.client.ErdaClient;
import io.erda.console.Numbers;
import io.erda.console.TextTable;
import io.erda.console.UserError;
import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code erda clean}: cleans the log and reports the result. */
@Command(
    name = "clean",
    description =
        "Clean the log: give the space of old versions and deleted keys back. Reads and writes go"
            + " on meanwhile. A server does it by itself when its log runs full.",
    footer = {"", "  ./erda clean --uri erda+shm:/var/lib/erda"})
public final class CleanCommand implements Callable<Integer> {
  private static final int ALL_HEADS = -1;
  private static final int HEADS_MAX = 256;

  @Spec private CommandSpec spec;
  @Mixin private ConnectionOptions connection;

  @Option(
      names = "--head",
      paramLabel = "N",
      description = "Clean this head of the log; all of them by default.")
  private Integer head;

  @Override
  public Integer call() {
    if (head != null && (head < 0 || head >= HEADS_MAX)) {
      throw new UserError("--head must be 0 to " + (HEADS_MAX - 1) + ": " + head, 2);
    }
    try (ErdaClient client = connection.connect()) {
      Map<String, Long> before = client.clean(head == null ? ALL_HEADS : head);
      Map<String, Long> after =
          new AwaitedCleaning(client::stats, System::nanoTime, LockSupport::parkNanos)
              .await(before);
      report(before, after);
      String obstacle = obstacle(before, after);
      if (obstacle != null) {
        throw new UserError(obstacle, 1);
      }
    }
    return 0;
  }

  /** Why nothing was cleaned although there was something to gain; null when that is not so. */
  static String obstacle(Map<String, Long> before, Map<String, Long> after) {
    boolean nothing = gain("cleaner.cleanings", before, after) == 0;
    if (!nothing || after.getOrDefault("cleaner.blocked", 0L) == 0) {
      return null;
    }
    long free = after.getOrDefault("disk.bytes.free", -1L);
    return "nothing was cleaned: what lives is copied into the file of another region first, and"
        + " the file system has no room for one"
        + (free < 0 ? "" : " (%s bytes are free)".formatted(Numbers.count(free)))
        + ". Remove other files, or make it larger, and clean again a second later";
  }

  private static long gain(String name, Map<String, Long> before, Map<String, Long> after) {
    return after.getOrDefault(name, 0L) - before.getOrDefault(name, 0L);
  }

  private void report(Map<String, Long> before, Map<String, Long> after) {
    PrintWriter out = spec.commandLine().getOut();
    TextTable table = new TextTable("figure", "value");
    for (String name :
        new String[] {"cleaner.cleanings", "cleaner.bytes.copied", "cleaner.bytes.reclaimed"}) {
      table.row(name, Numbers.count(gain(name, before, after)));
    }
    table.row("log.bytes.linked", Numbers.count(after.getOrDefault("log.bytes.linked", 0L)));
    out.print(table);
  }
}
