package io.erda.server.engine.service;

import io.erda.protocol.Message;
import io.erda.protocol.Protocol;
import io.erda.protocol.Result;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The figures that {@code stats} shows, by name, in the order in which they were added. One thread.
 */
final class NamedFigures {
  private final Map<String, LongSupplier> figures = new LinkedHashMap<>();
  private final List<Consumer<Map<String, LongSupplier>>> changing = new ArrayList<>();

  void add(String name, LongSupplier value) {
    figures.put(name, value);
  }

  /**
   * Adds figures that do not always exist. At each reading the adder adds the figures that exist
   * then.
   */
  void addChanging(Consumer<Map<String, LongSupplier>> adder) {
    changing.add(adder);
  }

  /**
   * Reads all figures and drops the values. This loads the classes and libraries of the JDK that
   * the figures need, which is impossible later when the server has no file descriptor left.
   */
  void readAll() {
    for (LongSupplier each : all().values()) {
      long ignored = each.getAsLong();
    }
  }

  /** The current values. */
  Map<String, Long> values() {
    Map<String, Long> values = new LinkedHashMap<>();
    all().forEach((name, value) -> values.put(name, value.getAsLong()));
    return values;
  }

  private Map<String, LongSupplier> all() {
    Map<String, LongSupplier> all = new LinkedHashMap<>(figures);
    changing.forEach(adder -> adder.accept(all));
    return all;
  }

  void onStats(Connection connection, int slot, MemorySegment in, long at, int received) {
    if (received != Message.STATS_REQUEST_BYTES) {
      connection.respond(slot, Message.STATS, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    Map<String, LongSupplier> all = all();
    int first = Math.clamp(Message.getInt(in, at + Message.STATS_FROM), 0, all.size());
    MemorySegment out = connection.buffers();
    long to = Connection.responseAt(slot);
    int length = Message.STATS_FIGURES_AT;
    int index = 0;
    int count = 0;
    for (Map.Entry<String, LongSupplier> figure : all.entrySet()) {
      byte[] name = figure.getKey().getBytes(StandardCharsets.UTF_8);
      if (index++ < first) {
        continue;
      }
      if (length + 9 + name.length > Protocol.MESSAGE_BYTES_MAX) {
        break;
      }
      Message.putLong(out, to + length, figure.getValue().getAsLong());
      out.set(ValueLayout.JAVA_BYTE, to + length + 8, (byte) name.length);
      MemorySegment.copy(name, 0, out, ValueLayout.JAVA_BYTE, to + length + 9, name.length);
      length += 9 + name.length;
      count++;
    }
    Message.putInt(out, to + Message.STATS_FIGURES, all.size());
    Message.putInt(out, to + Message.STATS_FIRST, first);
    Message.putLong(out, to + Message.STATS_COUNT, count);
    connection.respond(slot, Message.STATS, Result.OK, length);
  }
}
