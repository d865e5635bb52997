package io.erda.launcher.commands;

import io.erda.console.Numbers;
import io.erda.console.TextTable;
import java.util.Locale;
import java.util.Map;

/** The text of {@code erda top}: some lines, from a server's figures and its previous ones. */
final class TopView {
  private static final long NS = 1_000_000_000L;
  private static final String[] SIZES = {"B", "KiB", "MiB", "GiB", "TiB"};

  private final ToldFigures before;
  private final ToldFigures now;
  private final long elapsedNs;

  private TopView(ToldFigures before, ToldFigures now, long elapsedNs) {
    this.before = before;
    this.now = now;
    this.elapsedNs = elapsedNs;
  }

  /**
   * The lines, each with its end.
   *
   * @param before the previous figures; null the first time, when there are no rates
   * @param elapsedNs between the two
   */
  static String of(String uri, Map<String, Long> before, Map<String, Long> now, long elapsedNs) {
    ToldFigures earlier = before == null ? null : new ToldFigures(before);
    return new TopView(earlier, new ToldFigures(now), elapsedNs).text(uri);
  }

  private String text(String uri) {
    StringBuilder text = new StringBuilder();
    text.append(uri).append("  version ").append(now.text("server.version"));
    text.append(", up ").append(now.uptime()).append(", ");
    long clients = now.number("connections");
    text.append(Numbers.count(clients)).append(clients == 1 ? " client\n" : " clients\n");
    String readOnly = now.text("store.readonly.reason");
    text.append(readOnly == null ? "" : "READ ONLY: " + readOnly + "\n");
    text.append('\n').append(work()).append('\n').append(waits()).append('\n').append(space());
    return text.toString();
  }

  private TextTable work() {
    TextTable table = new TextTable("a second", "number", "bytes");
    table.row("puts", rate("puts"), byteRate("objects.bytes.published"));
    table.row("deletes", rate("deletes"), "");
    table.row("READs of clients", rate("clients.reads"), byteRate("clients.bytes.read"));
    table.row("WRITEs of clients", rate("clients.writes"), byteRate("clients.bytes.written"));
    table.row("requests", rate("requests"), "");
    table.row("refused, full", rate("requests.refused.full"), "");
    table.row("cleaned regions", rate("cleaner.cleanings"), byteRate("cleaner.bytes.copied"));
    table.row("processor time", cpu(), "");
    return table;
  }

  private TextTable waits() {
    TextTable table = new TextTable("an answer takes", "half", "99%");
    table.row("puts and deletes", time("put.p50"), time("put.p99"));
    table.row("requests for space", time("lease.p50"), time("lease.p99"));
    return table;
  }

  private String time(String which) {
    long ns = now.number("requests.time." + which + ".ns");
    return ns < 0 ? "–" : Numbers.time(ns);
  }

  private TextTable space() {
    TextTable table = new TextTable("space", "taken", "of", "");
    table.row(
        "log",
        size(now.number("log.bytes.used")),
        size(now.number("log.bytes.capacity")),
        part(now.number("log.bytes.used"), now.number("log.bytes.capacity")));
    table.row(
        "table",
        count(now.number("table.entries")),
        count(now.number("table.buckets")),
        part(now.number("table.entries"), now.number("table.buckets")));
    long total = now.number("disk.bytes.total");
    long free = now.number("disk.bytes.free");
    long taken = total < 0 || free < 0 ? -1 : total - free;
    table.row("disk", size(taken), size(total), part(taken, total));
    return table;
  }

  /** The increase of a figure per second; figures of a restarted server begin at 0. */
  private double perSecond(String name) {
    if (before == null || elapsedNs <= 0) {
      return -1;
    }
    long from = before.number(name);
    long to = now.number(name);
    return from < 0 || to < 0 ? -1 : Math.max(0, to - from) * (double) NS / elapsedNs;
  }

  private String rate(String name) {
    double rate = perSecond(name);
    return rate < 0 ? "–" : Numbers.count(rate);
  }

  private String byteRate(String name) {
    return size((long) perSecond(name));
  }

  private String cpu() {
    double rate = perSecond("server.cpu.ns");
    return rate < 0 ? "–" : String.format(Locale.ROOT, "%.0f%%", 100 * rate / NS);
  }

  private static String count(long number) {
    return number < 0 ? "–" : Numbers.count(number);
  }

  private static String part(long some, long all) {
    return some < 0 || all <= 0 ? "" : String.format(Locale.ROOT, "%.1f%%", 100.0 * some / all);
  }

  static String size(long bytes) {
    if (bytes < 0) {
      return "–";
    }
    double size = bytes;
    int unit = 0;
    for (; size >= 1024 && unit < SIZES.length - 1; unit++) {
      size /= 1024;
    }
    return String.format(Locale.ROOT, unit == 0 ? "%.0f %s" : "%.1f %s", size, SIZES[unit]);
  }
}
