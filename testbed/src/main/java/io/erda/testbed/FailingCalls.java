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
 * {@code testbed/failing-calls}: makes single system calls of Erda's programs fail, with strace.
 * The script has the help.
 */
@Command(name = "testbed/failing-calls")
public final class FailingCalls implements Callable<Integer> {
  private static final int SHORT_SECONDS = 60;
  private static final long TELL_NS = 60_000_000_000L;

  @Spec private CommandSpec spec;

  @Option(
      names = "--runs",
      defaultValue = "500",
      description = {
        "Configurations whose program came to the call that was to fail.",
        "Default: ${DEFAULT-VALUE}"
      })
  private int runs;

  @Option(names = "--seed", description = "What they are drawn by; chosen and printed otherwise.")
  private Long seed;

  @Option(names = "--seconds", description = "End after so many seconds.")
  private Integer seconds;

  @Option(names = "--short", description = "A minute of it.")
  private boolean brief;

  @Option(names = "--only", description = "Run the configuration of this number alone.")
  private Integer only;

  @Option(
      names = "--call",
      converter = CallConverter.class,
      paramLabel = "CALL:ERROR:N",
      description = {
        "The call that fails, instead of one that is drawn; N+: the later ones, too; with :files:",
        "of calls about the store's files."
      })
  private FailingCall call;

  @Option(names = "--program", description = "Run this program alone.")
  private FailingPrograms.Program program;

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
    // Ending a run must not leave a program behind.
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() ->
                ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly)));
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
    long toldNs = System.nanoTime();
    out.flush();
    Map<String, int[]> tally = new TreeMap<>();
    int failed = 0;
    int done = 0;
    int met = 0;
    try (FailingPrograms programs =
        new FailingPrograms(work, java, List.of(jvmFlags.trim().split(" +")), classpath)) {
      int last = only == null ? Integer.MAX_VALUE : only;
      for (int i = only == null ? from : only;
          i <= last && met < runs && System.nanoTime() < endNs;
          i++) {
        FailingPrograms.Configuration configuration = programs.draw(itsSeed, i, program, call);
        ConfigurationResult outcome = programs.run(configuration);
        done++;
        met += outcome.isMet() ? 1 : 0;
        int[] counts = tally.computeIfAbsent(configuration.program().toString(), k -> new int[4]);
        counts[0]++;
        counts[1] += outcome.isMet() ? 1 : 0;
        counts[2] += outcome.isOfTheJvm() ? 1 : 0;
        if (System.nanoTime() - toldNs > TELL_NS) {
          toldNs = System.nanoTime();
          out.printf("%d: %d met, %d failed%n", i, met, failed);
          out.flush();
        }
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
    out.printf("%d configurations, %d met their call, %d failed%n", done, met, failed);
    out.flush();
    return failed == 0 ? 0 : 1;
  }

  private static void tell(
      PrintWriter out,
      long seed,
      int number,
      FailingPrograms.Configuration configuration,
      ConfigurationResult outcome) {
    out.printf("FAILED %d: %s%n", number, configuration);
    outcome.complaints().stream().distinct().limit(6).forEach(what -> out.println("  " + what));
    outcome
        .trace()
        .lines()
        .filter(line -> line.contains("(INJECTED)"))
        .limit(5)
        .forEach(line -> out.println("    strace: " + line));
    out.print(outcome.seen());
    out.printf(
        "  again: testbed/failing-calls --seed %d --only %d --call %s%n",
        seed, number, configuration.call().text());
    out.flush();
  }

  /** Parses a call from the command line. */
  private static final class CallConverter implements CommandLine.ITypeConverter<FailingCall> {
    @Override
    public FailingCall convert(String text) {
      return FailingCall.parse(text);
    }
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
