package io.erda.testbed;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Lets single system calls of Erda's programs fail, as strace can: {@code testbed/failing-calls}.
 */
@Command(
    name = "testbed/failing-calls",
    mixinStandardHelpOptions = true,
    description = {
      "Let a system call of a program fail: of a server that serves or starts, of clean, import,"
          + " export, backup, restore and verify; the n-th, or the n-th and all later ones.",
      "A server is then started again without that, and every key must have what was acknowledged."
          + " Nothing may hang, end without saying why, or say what no user understands. strace is"
          + " needed."
    },
    footer = {
      "",
      "Exit code 1 when something was wrong; a line says how to see it again.",
      "",
      "  testbed/failing-calls --short",
      "  testbed/failing-calls --runs 2000",
      "  testbed/failing-calls --seed 7 --only 312"
    })
public final class FailingCalls implements Callable<Integer> {
  private static final int SHORT_SECONDS = 60;

  @Spec private CommandSpec spec;

  @Option(names = "--runs", defaultValue = "500", description = "Configurations to draw.")
  private int runs;

  @Option(names = "--seed", description = "What they are drawn by; chosen and printed otherwise.")
  private Long seed;

  @Option(names = "--seconds", description = "End after so many seconds.")
  private Integer seconds;

  @Option(names = "--short", description = "A minute of it.")
  private boolean brief;

  @Option(names = "--only", description = "Run the configuration of this number alone.")
  private Integer only;

  @Option(names = "--from", defaultValue = "1", description = "Begin with this number.")
  private int from;

  @Option(names = "--work", hidden = true, required = true)
  private Path work;

  @Option(names = "--java", hidden = true, required = true)
  private String java;

  @Option(names = "--jvm-flags", hidden = true, required = true)
  private String jvmFlags;

  @Option(names = "--erda", hidden = true, required = true, description = "Its class path.")
  private String classpath;

  public static void main(String[] args) {
    System.exit(new CommandLine(new FailingCalls()).execute(args));
  }

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    long itsSeed = seed == null ? new Random().nextInt(1_000_000) : seed;
    long endNs =
        System.nanoTime()
            + 1_000_000_000L * (seconds != null ? seconds : brief ? SHORT_SECONDS : 1 << 20);
    out.println("seed " + itsSeed);
    out.flush();
    Map<String, int[]> tally = new TreeMap<>();
    int failed = 0;
    int done = 0;
    try (FailingPrograms programs =
        new FailingPrograms(work, java, List.of(jvmFlags.trim().split(" +")), classpath)) {
      int first = only == null ? from : only;
      int last = only == null ? from + runs - 1 : only;
      for (int i = first; i <= last && System.nanoTime() < endNs; i++) {
        FailingPrograms.Configuration configuration = FailingPrograms.draw(itsSeed, i);
        Outcome outcome = programs.run(configuration);
        done++;
        int[] counts = tally.computeIfAbsent(configuration.program().toString(), k -> new int[4]);
        counts[0]++;
        counts[1] += outcome.isMet() ? 1 : 0;
        counts[2] += outcome.isOfTheJvm() ? 1 : 0;
        if (!outcome.complaints().isEmpty()) {
          counts[3]++;
          failed++;
          tell(out, itsSeed, i, configuration, outcome);
        }
      }
    }
    out.printf("%-12s %6s %6s %6s %6s%n", "program", "runs", "met", "JVM", "failed");
    tally.forEach((name, counts) ->
        out.printf("%-12s %6d %6d %6d %6d%n", name, counts[0], counts[1], counts[2], counts[3]));
    out.printf("%d configurations, %d failed%n", done, failed);
    out.flush();
    return failed == 0 ? 0 : 1;
  }

  private static void tell(
      PrintWriter out,
      long seed,
      int number,
      FailingPrograms.Configuration configuration,
      Outcome outcome) {
    out.printf("FAILED %d: %s%n", number, configuration);
    outcome.complaints().stream().distinct().limit(6).forEach(what -> out.println("  " + what));
    out.print(outcome.seen());
    out.printf("  again: testbed/failing-calls --seed %d --only %d%n", seed, number);
    out.flush();
  }

  /** Removes a directory with everything in it. */
  static void remove(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : new ArrayList<>(files.sorted(Comparator.reverseOrder()).toList())) {
          Files.deleteIfExists(file);
        }
      }
    }
  }
}
