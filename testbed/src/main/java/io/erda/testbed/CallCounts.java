package io.erda.testbed;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How often a program makes each system call when none fails, from a trace by strace. strace counts
 * the calls of each thread separately, so the thread with the most calls matters: higher numbers
 * are never reached.
 *
 * @param ofFiles the most calls that one thread makes on files of the store, by call name
 * @param ofAll the most calls that one thread makes
 * @param paths the paths in these calls, for strace's filter
 */
record CallCounts(Map<String, Integer> ofFiles, Map<String, Integer> ofAll, Set<String> paths) {
  private static final Pattern LINE = Pattern.compile("^(\\d+) +(\\w+)\\((.*)$");

  /** Files that programs write their output to are not the store's. */
  private static final Pattern SAID = Pattern.compile("\\.(out|err)$");

  private static final Pattern DESCRIPTOR = Pattern.compile("\"(/proc/self/fd/\\d\\d+)\"");

  /** The arguments with which strace records all calls that can be made to fail. */
  static List<String> arguments() {
    return List.of("-y", "-e", FailingCall.allTraced(), "-e", "signal=none");
  }

  /**
   * Counts the lines of a trace.
   *
   * @param world the directory with all files of the program
   */
  static CallCounts of(String trace, Path world) {
    Pattern within =
        Pattern.compile(
            "[\"<](" + Pattern.quote(world.toString()) + "[^\"<>]*)[\">](\\(deleted\\))?");
    Map<String, Integer> ofFiles = new HashMap<>();
    Map<String, Integer> ofAll = new HashMap<>();
    Set<String> paths = new TreeSet<>();
    for (String line : trace.lines().toList()) {
      Matcher parts = LINE.matcher(line);
      if (!parts.matches()) {
        continue;
      }
      String key = parts.group(1) + " " + parts.group(2);
      ofAll.merge(key, 1, Integer::sum);
      // The result of a call does not matter.
      List<String> named = named(within, parts.group(3).replaceFirst("\\) += .*$", ""));
      if (!named.isEmpty()) {
        ofFiles.merge(key, 1, Integer::sum);
        paths.addAll(named);
      }
    }
    return new CallCounts(most(ofFiles), most(ofAll), paths);
  }

  private static List<String> named(Pattern within, String arguments) {
    // The process's working directory precedes each path that is not relative to another directory.
    String own = arguments.replaceAll("AT_FDCWD<[^>]*>", "");
    List<String> named = new ArrayList<>();
    Matcher path = within.matcher(own);
    while (path.find()) {
      if (path.group(2) == null && !SAID.matcher(path.group(1)).find()) {
        named.add(path.group(1));
      }
    }
    Matcher descriptor = DESCRIPTOR.matcher(own);
    while (descriptor.find()) {
      named.add(descriptor.group(1));
    }
    return named;
  }

  private static Map<String, Integer> most(Map<String, Integer> byThread) {
    Map<String, Integer> most = new HashMap<>();
    byThread.forEach(
        (key, count) -> most.merge(key.substring(key.indexOf(' ') + 1), count, Math::max));
    return most;
  }

  /**
   * Returns a number of calls of a kind that is certainly reached; 0: none.
   *
   * @param calls the names of the calls, separated by {@code /}
   */
  int most(String calls, boolean aboutFiles) {
    Map<String, Integer> counts = aboutFiles ? ofFiles : ofAll;
    int most = 0;
    for (String call : calls.split("/")) {
      most = Math.max(most, counts.getOrDefault(call, 0));
    }
    // Not every run of a program makes as many calls.
    return most - most / 5;
  }
}
