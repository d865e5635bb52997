package io.erda.testbed;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/** Counts cuts, and shows them as tables. Thread-safe. */
final class CutCounts {
  private final List<Cut> cuts = new ArrayList<>();
  private int troubles;

  synchronized void add(Cut cut) {
    cuts.add(cut);
  }

  synchronized int cuts() {
    return cuts.size();
  }

  /** Counts a problem in a guest. */
  synchronized void addTrouble() {
    troubles++;
  }

  synchronized int failed() {
    return troubles + (int) cuts.stream().filter(Cut::failed).count();
  }

  synchronized void print(PrintWriter out) {
    out.printf(
        "%-6s %5s %9s %8s %9s %5s %7s %9s %9s %9s %7s %9s %9s%n",
        "",
        "cuts",
        "creation",
        "opening",
        "recovery",
        "load",
        "verify",
        "cleaning",
        "doubling",
        "promised",
        "failed",
        "unopened",
        "keys lost");
    for (Disk.Kind kind : Disk.Kind.values()) {
      row(out, kind.name().toLowerCase(Locale.ROOT), c -> c.disk() == kind);
    }
    row(out, "all", c -> true);
    out.println();
    out.println("orders of runs (the last three), cuts, failed:");
    Map<String, int[]> orders = new TreeMap<>();
    for (Cut cut : cuts) {
      int[] counts = orders.computeIfAbsent(pattern(cut.order()), o -> new int[2]);
      counts[0]++;
      counts[1] += cut.failed() ? 1 : 0;
    }
    orders.forEach((order, n) -> out.printf("  %-36s %4d %4d%n", order, n[0], n[1]));
    long unopened = cuts.stream().filter(c -> !c.opening().opened() && !c.failed()).count();
    if (unopened > 0) {
      out.println(unopened + " stores that had promised nothing did not open");
    }
    if (troubles > 0) {
      out.println(troubles + " times something was wrong in a running guest");
    }
    out.println(failed() == 0 ? "nothing acknowledged was lost" : failed() + " failures");
    out.flush();
  }

  private void row(PrintWriter out, String name, Predicate<Cut> of) {
    List<Cut> some = cuts.stream().filter(of).toList();
    if (some.isEmpty()) {
      return;
    }
    out.printf(
        "%-6s %5d %9d %8d %9d %5d %7d %9d %9d %9d %7d %9d %9d%n",
        name,
        some.size(),
        in(some, Cut.Phase.CREATION),
        in(some, Cut.Phase.OPENING),
        in(some, Cut.Phase.RECOVERY),
        in(some, Cut.Phase.LOAD),
        in(some, Cut.Phase.VERIFY),
        some.stream().filter(c -> c.opening().inCleaning()).count(),
        some.stream().filter(c -> c.opening().inDoubling()).count(),
        some.stream().filter(Cut::powerClaimed).count(),
        some.stream().filter(Cut::failed).count(),
        some.stream().filter(c -> c.failed() && !c.opening().opened()).count(),
        some.stream().mapToInt(Cut::lostKeys).sum());
  }

  private static long in(List<Cut> some, Cut.Phase phase) {
    return some.stream().filter(c -> c.phase() == phase).count();
  }

  /** Whether each of the last three runs asked for the promise, and where verify was, in words. */
  static String pattern(String order) {
    List<String> words = new ArrayList<>();
    for (String word : order.split(" ")) {
      switch (word) {
        case "server", "embedded" -> words.add("none");
        case "server+power", "embedded+power" -> words.add("power");
        case "verify", "cut" -> words.add(word);
        default -> {}
      }
    }
    int runs = 0;
    int from = words.size();
    while (from > 0 && runs < 3) {
      from--;
      if (words.get(from).equals("none") || words.get(from).equals("power")) {
        runs++;
      }
    }
    return String.join(" ", words.subList(from, words.size()));
  }
}
