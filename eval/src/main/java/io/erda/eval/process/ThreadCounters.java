package io.erda.eval.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Events that the processor counts while one thread runs, by {@code perf stat}. Blocks; any thread.
 */
public final class ThreadCounters {
  private static final String PERF = "perf";
  private static final String PACKAGE = "linux-perf";

  /**
   * The counts.
   *
   * @param counts by event; without events that this machine does not count
   * @param missing why one of them is missing, empty when all are there
   */
  public record Counts(Map<String, Long> counts, Optional<String> missing) {}

  /**
   * Counts events of a thread for a time.
   *
   * @param thread its number in the kernel
   * @param events as perf calls them
   */
  public static Counts of(long thread, List<String> events, Duration time)
      throws InterruptedException {
    Optional<Path> perf = Programs.find(PERF);
    if (perf.isEmpty()) {
      return new Counts(
          Map.of(), Optional.of(PERF + " is not installed: apt-get install " + PACKAGE));
    }
    List<String> command =
        List.of(
            perf.get().toString(),
            "stat",
            "-x",
            ",",
            "-e",
            String.join(",", events),
            "-t",
            Long.toString(thread),
            "--",
            "sleep",
            String.format(Locale.ROOT, "%.3f", time.toNanos() / 1e9));
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      try {
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return read(said, events);
      } finally {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
    } catch (IOException e) {
      return new Counts(Map.of(), Optional.of("perf: " + e.getMessage()));
    }
  }

  /**
   * Parses lines of {@code COUNT,UNIT,EVENT,…}, where COUNT may be words with the reason why there
   * is none.
   */
  static Counts read(String said, List<String> events) {
    Map<String, Long> counts = new HashMap<>();
    List<String> whyNot = new ArrayList<>();
    for (String line : said.lines().map(String::strip).filter(each -> !each.isEmpty()).toList()) {
      String[] words = line.split(",", -1);
      if (words.length < 3) {
        whyNot.add(line);
      } else if (words[0].matches("\\d{1,18}")) {
        counts.put(event(words[2], events), Long.parseLong(words[0]));
      } else {
        whyNot.add(words[2] + " " + words[0]);
      }
    }
    boolean all = counts.keySet().containsAll(events);
    return new Counts(
        Map.copyOf(counts), all ? Optional.empty() : Optional.of("perf says " + said(whyNot)));
  }

  /**
   * The line of an error message that has the reason: the line "Error:" has none, and later lines
   * do not matter.
   */
  private static String said(List<String> whyNot) {
    List<String> counts = whyNot.stream().filter(line -> line.contains("<")).toList();
    if (!counts.isEmpty()) {
      return String.join(", ", counts);
    }
    return whyNot.stream().filter(line -> !line.equals("Error:")).findFirst().orElse("nothing");
  }

  /** The event's name without perf's suffix for the privilege level, {@code :u}. */
  private static String event(String said, List<String> events) {
    return events.stream().filter(event -> said.equals(event + ":u")).findFirst().orElse(said);
  }

  private ThreadCounters() {}
}
