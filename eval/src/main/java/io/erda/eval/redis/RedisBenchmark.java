package io.erda.eval.redis;

import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.ProcessException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Redis's own benchmark, with one connection and no pipelining. */
public final class RedisBenchmark {
  private static final Duration SILENCE_MAX = Duration.ofSeconds(60);
  private static final List<String> TESTS = List.of("SET", "GET");

  private RedisBenchmark() {}

  /**
   * Runs it against a server.
   *
   * @param program its path, see {@link io.erda.eval.process.Programs#find}
   * @return its results for SET and for GET, a line each
   * @throws ProcessException when there are none
   */
  public static List<String> run(
      Children children, Path program, Path socket, int valueBytes, int requests) {
    Child child =
        children.start(
            "redis-benchmark",
            List.of(
                program.toString(),
                "-s",
                socket.toString(),
                "-c",
                "1",
                "-P",
                "1",
                "-d",
                Integer.toString(valueBytes),
                "-n",
                Integer.toString(requests),
                "-r",
                "100000",
                "-t",
                "set,get",
                "-q"));
    List<String> lines = linesOf(child);
    children.forget(child);
    try {
      return results(lines);
    } catch (ProcessException e) {
      throw new ProcessException(e.getMessage() + child.errorTail(), e);
    }
  }

  /** All its lines until it ends, or prints nothing for long. */
  private static List<String> linesOf(Child child) {
    List<String> lines = new ArrayList<>();
    try {
      for (String line = child.poll(SILENCE_MAX); line != null; line = child.poll(SILENCE_MAX)) {
        lines.add(line);
      }
    } catch (ProcessException e) {
      // The end of its output means that it is done.
    }
    return lines;
  }

  /**
   * The results among all lines: most lines are progress, which would be overwritten on a terminal.
   *
   * @throws ProcessException when one is missing
   */
  static List<String> results(List<String> lines) {
    List<String> results = new ArrayList<>();
    for (String test : TESTS) {
      Pattern result = Pattern.compile(test + ": \\d+(\\.\\d+)? requests per second.*");
      results.add(
          lines.stream()
              .map(String::strip)
              .filter(line -> result.matcher(line).matches())
              .findFirst()
              .orElseThrow(
                  () -> new ProcessException("redis-benchmark printed no result of " + test)));
    }
    return results;
  }
}
