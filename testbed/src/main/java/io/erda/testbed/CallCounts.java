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
 * How often a program makes each system call when none fails, as strace has written it down. strace
 * numbers the calls of each thread by themselves, so what counts is the thread that makes most of
 * them: a higher number is never reached.
 *
 * @param ofFiles the most calls that one thread makes about files of the store, by their names
 * @param ofAll the most calls that one thread makes
 * @param paths what the calls about files name, as strace's filter wants it
 */
record CallCounts(Map<String, Integer> ofFiles, Map<String, Integer> ofAll, Set<String> paths) {
  private static final Pattern LINE = Pattern.compile("^(\\d+) +(\\w+)\\((.*)$");

  /** What programs write their lines to is no file of a store's. */
  private static final Pattern SAID = Pattern.compile("\\.(out|err)$");

  private static final Pattern DESCRIPTOR = Pattern.compile("\"(/proc/self/fd/\\d\\d+)\"");

  /** What tells strace to write down all calls that can be made to fail. */
  static List<String> arguments() {
    return List.of("-y", "-e", FailingCall.allTraced(), "-e", "signal=none");
  }

  /**
   * Counts the lines of a trace.
   *
   * @param world the directory that has everything that the program was given
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
      // What a call returns is not what it is about.
      List<String> named = named(within, parts.group(3).replaceFirst("\\) += .*$", ""));
      if (!named.isEmpty()) {
        ofFiles.merge(key, 1, Integer::sum);
        paths.addAll(named);
      }
    }
    return new CallCounts(most(ofFiles), most(ofAll), paths);
  }

  private static List<String> named(Pattern within, String arguments) {
    // The directory of the process stands before each name that is not relative to another one.
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
   * Returns the highest number of calls of a kind that is surely reached; 0: there is none.
   *
   * @param calls their names, with a {@code /} between them
   */
  int most(String calls, boolean aboutFiles) {
    Map<String, Integer> counts = aboutFiles ? ofFiles : ofAll;
    int most = 0;
    for (String call : calls.split("/")) {
      most = Math.max(most, counts.getOrDefault(call, 0));
    }
    // Not every run of a program makes as many.
    return most - most / 5;
  }
}
