package io.erda.simulation.history;

import io.erda.simulation.history.OrderSearch.Answer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.LongFunction;

/**
 * Shortens a violation to a readable size: the shortest beginning of the key's history that has no
 * explanation, then the latest start with which that remains so whatever the register held, then
 * without the gets that don't matter.
 */
final class ViolationReport {
  private static final int GETS_TRIED_MAX = 200;

  private final History history;
  private final OrderSearch search;
  private final LongFunction<String> keyNames;
  private final LongFunction<String> valueNames;

  ViolationReport(
      History history,
      OrderSearch search,
      LongFunction<String> keyNames,
      LongFunction<String> valueNames) {
    this.history = history;
    this.search = search;
    this.keyNames = keyNames;
    this.valueNames = valueNames;
  }

  private record Line(long time, String text) {}

  String text() {
    long to = shortestEnd();
    long from = latestStart(to);
    BitSet without = dispensable(from, to);
    int culprit = returningAt(to);
    List<Line> lines = new ArrayList<>();
    BitSet shown = shown(from, to, without);
    long origin = history.invoked(search.id(shown.nextSetBit(0)));
    for (int i = shown.nextSetBit(0); i >= 0; i = shown.nextSetBit(i + 1)) {
      lines.add(
          new Line(
              search.invoked(i), line(i, origin, to) + (i == culprit ? "   <-- unexplained" : "")));
    }
    for (History.Mark mark : history.marks()) {
      if (mark.time() >= origin && mark.time() <= to) {
        lines.add(
            new Line(
                mark.time(), String.format("  ---- %,13d  %s", mark.time() - origin, mark.text())));
      }
    }
    lines.sort((a, b) -> Long.compare(a.time, b.time));
    StringBuilder text = new StringBuilder();
    text.append(keyNames.apply(history.key(search.id(0))))
        .append(": no order explains these operations");
    text.append(" (times from ").append(origin).append(")\n");
    lines.forEach(line -> text.append(line.text).append('\n'));
    long earlier = earlierUnknown(from, shown);
    if (earlier > 0) {
      text.append("Considered too: ")
          .append(earlier)
          .append(" earlier operations of unknown outcome.\n");
    }
    return text.append(reason(culprit)).toString();
  }

  private Answer answer(long from, long to, BitSet without) {
    return search.search(from, to, without);
  }

  private long shortestEnd() {
    long[] ends = new long[search.count()];
    for (int i = 0; i < ends.length; i++) {
      ends[i] = search.outcome(i) == Ending.OK ? search.returned(i) : Long.MIN_VALUE;
    }
    int[] order = Order.by(ends, ends.length);
    int low = 0;
    int high = order.length - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (answer(Long.MIN_VALUE, ends[order[middle]], new BitSet()) == Answer.UNEXPLAINED) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return ends[order[low]];
  }

  /**
   * The latest start, an invocation. Too many states count as an explanation, so a window is rather
   * too long than wrong.
   */
  private long latestStart(long to) {
    int low = 0;
    int high = 0;
    while (high + 1 < search.count() && search.invoked(high + 1) <= to) {
      high++;
    }
    if (answer(search.invoked(0), to, new BitSet()) != Answer.UNEXPLAINED) {
      return Long.MIN_VALUE;
    }
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (answer(search.invoked(middle), to, new BitSet()) == Answer.UNEXPLAINED) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return search.invoked(low);
  }

  private BitSet dispensable(long from, long to) {
    BitSet without = new BitSet();
    int tried = 0;
    for (int i = 0; i < search.count() && tried < GETS_TRIED_MAX; i++) {
      if (search.operation(i) == OperationKind.GET && overlaps(i, from, to)) {
        tried++;
        without.set(i);
        if (answer(from, to, without) != Answer.UNEXPLAINED) {
          without.clear(i);
        }
      }
    }
    return without;
  }

  private boolean overlaps(int i, long from, long to) {
    return search.invoked(i) <= to && search.returned(i) >= from;
  }

  /**
   * The operations in the window, and the puts of values seen there. Operations of unknown outcome
   * may be from any time before.
   */
  private BitSet shown(long from, long to, BitSet without) {
    BitSet shown = new BitSet();
    for (int i = 0; i < search.count(); i++) {
      boolean counts =
          search.outcome(i) != Ending.FAILED
              && (search.operation(i) != OperationKind.GET || search.returned(i) <= to);
      boolean earlier = search.outcome(i) == Ending.UNKNOWN && search.invoked(i) < from;
      if (counts && !earlier && overlaps(i, from, to) && !without.get(i)) {
        shown.set(i);
        Integer put =
            switch (search.operation(i)) {
              case GET -> search.putOf(search.value(i));
              case PUT_IF, DELETE_IF -> search.putOf(search.expected(i));
              case PUT, DELETE -> null;
            };
        if (put != null) {
          shown.set(put);
        }
      }
    }
    return shown;
  }

  private long earlierUnknown(long from, BitSet shown) {
    long count = 0;
    for (int i = 0; i < search.count(); i++) {
      boolean unknown =
          search.outcome(i) == Ending.UNKNOWN && search.operation(i) != OperationKind.GET;
      count += unknown && search.invoked(i) < from && !shown.get(i) ? 1 : 0;
    }
    return count;
  }

  private int returningAt(long to) {
    int last = 0;
    for (int i = 0; i < search.count(); i++) {
      if (search.outcome(i) == Ending.OK && search.returned(i) == to) {
        last = i;
      }
    }
    return last;
  }

  private String line(int i, long origin, long to) {
    long returned = search.returned(i);
    String end = returned == History.NEVER ? "never" : String.format("%,d", returned - origin);
    return String.format(
        "  client %-3d %,12d .. %-12s  %s",
        history.client(search.id(i)), search.invoked(i) - origin, end, what(i, returned > to));
  }

  private String what(int i, boolean open) {
    String value = search.value(i) == History.ABSENT ? "absent" : valueNames.apply(search.value(i));
    String result =
        switch (search.outcome(i)) {
          case UNKNOWN -> "outcome unknown";
          case FAILED -> "reported as not done";
          case OK -> open ? "not yet returned" : null;
        };
    String condition =
        search.expected(i) == History.ABSENT
            ? " if absent"
            : " if " + valueNames.apply(search.expected(i));
    if (search.missed(i) && result == null) {
      result = "conflict";
    }
    return switch (search.operation(i)) {
      case PUT_IF ->
          "put "
              + (search.value(i) == History.ABSENT ? "" : value)
              + condition
              + ": "
              + (result == null ? "done" : result);
      case DELETE_IF -> "delete" + condition + ": " + (result == null ? "done" : result);
      case PUT -> "put " + value + ": " + (result == null ? "done" : result);
      case GET -> "get: " + (result == null ? value : result);
      case DELETE ->
          "delete: "
              + (result == null ? search.value(i) == 0 ? "did not exist" : "existed" : result);
    };
  }

  private String reason(int culprit) {
    if (search.operation(culprit) != OperationKind.GET || search.value(culprit) == History.ABSENT) {
      return "";
    }
    String value = valueNames.apply(search.value(culprit));
    Integer put = search.putOf(search.value(culprit));
    if (put == null) {
      return "Nobody put " + value + " there.\n";
    }
    if (search.outcome(put) == Ending.FAILED) {
      return "The put of " + value + " was reported as definitely not done.\n";
    }
    return search.invoked(put) > search.returned(culprit)
        ? "The put of " + value + " had not begun.\n"
        : "";
  }
}
