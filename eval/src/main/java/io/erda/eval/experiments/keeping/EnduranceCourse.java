package io.erda.eval.experiments.keeping;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.eval.plot.LinePlot;
import io.erda.eval.report.Part;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** What was seen in each cycle, and whether the last ones are as the first after ten minutes. */
final class EnduranceCourse {
  /** Cycles that begin before the store and the JVMs have settled. */
  private static final int SETTLING = 2;

  /** The first and the last are told from so many cycles. */
  private static final int JUDGED = 3;

  private final List<Sample> samples = new ArrayList<>();

  /**
   * What one quiet stretch shows.
   *
   * @param seconds since the beginning
   * @param server what the server's process holds
   * @param client what the process of a client holds that lives from the beginning
   * @param fileBytes of the store's directory
   * @param files in it
   * @param getNs median and 99th percentile of a get
   * @param putNs median and 99th percentile of a put
   */
  record Sample(
      double seconds,
      ProcessFigures server,
      ProcessFigures client,
      long fileBytes,
      long files,
      long[] getNs,
      long[] putNs) {}

  /**
   * What must not grow: by so many times and so much besides, which is what a look at it differs.
   */
  private record Flat(String what, double times, double besides, ToDoubleFunction<Sample> of) {}

  private static final List<Flat> FLAT =
      List.of(
          new Flat("memory of the server, MB", 1.25, 8, s -> s.server().memoryBytes() / 1e6),
          new Flat("memory of a client, MB", 1.25, 8, s -> s.client().memoryBytes() / 1e6),
          new Flat("descriptors of the server", 1, 4, s -> s.server().descriptors()),
          new Flat("descriptors of a client", 1, 4, s -> s.client().descriptors()),
          new Flat("mappings of the server", 1.1, 8, s -> s.server().mappings()),
          new Flat("mappings of a client", 1.1, 8, s -> s.client().mappings()),
          new Flat("threads of the server", 1, 2, s -> s.server().threads()),
          new Flat("bytes of the store's files, MB", 1.1, 128, s -> s.fileBytes() / 1e6),
          new Flat("files of the store", 1.1, 4, Sample::files),
          new Flat("get, p50, us", 1.25, 0.2, s -> s.getNs()[0] / 1e3),
          new Flat("get, p99, us", 1.5, 1, s -> s.getNs()[1] / 1e3),
          new Flat("put, p50, us", 1.25, 0.2, s -> s.putNs()[0] / 1e3),
          new Flat("put, p99, us", 1.5, 2, s -> s.putNs()[1] / 1e3));

  void add(Sample sample) {
    samples.add(sample);
  }

  /** Puts the figures, beginning and end beside each other, into parts, JSON and what is missed. */
  void report(boolean judged, List<Part> parts, ObjectNode json, List<String> missed) {
    int first = Math.min(SETTLING, samples.size() - 1);
    List<Sample> beginning = samples.subList(first, Math.min(first + JUDGED, samples.size()));
    List<Sample> end = samples.subList(Math.max(first, samples.size() - JUDGED), samples.size());
    Table table = new Table("", "after ten minutes", "at the end", "allowed");
    for (Flat flat : FLAT) {
      double was = median(beginning, flat.of());
      double is = median(end, flat.of());
      double allowed = was * flat.times() + flat.besides();
      table.row(
          flat.what(), Table.decimal(was), Table.decimal(is), judged ? Table.decimal(allowed) : "");
      if (judged && is > allowed) {
        missed.add(
            String.format(
                Locale.ROOT,
                "%s: %.2f at the end, %.2f after ten minutes, allowed are %.2f",
                flat.what(),
                is,
                was,
                allowed));
      }
      ArrayNode course = json.putArray(flat.what());
      samples.forEach(sample -> course.add(flat.of().applyAsDouble(sample)));
    }
    parts.add(table);
    parts.add(plot());
  }

  private static double median(List<Sample> samples, ToDoubleFunction<Sample> of) {
    return Rounds.median(samples.stream().mapToDouble(of).toArray());
  }

  private LinePlot plot() {
    return new LinePlot("A store in use", "minutes", "")
        .panel("memory, MB")
        .curve("server", minutes(), values(s -> s.server().memoryBytes() / 1e6))
        .curve("client", minutes(), values(s -> s.client().memoryBytes() / 1e6))
        .panel("descriptors")
        .curve("server", minutes(), values(s -> s.server().descriptors()))
        .curve("client", minutes(), values(s -> s.client().descriptors()))
        .panel("files, MB")
        .curve("files", minutes(), values(s -> s.fileBytes() / 1e6))
        .panel("latency, us")
        .curve("get, p50", minutes(), values(s -> s.getNs()[0] / 1e3))
        .curve("get, p99", minutes(), values(s -> s.getNs()[1] / 1e3))
        .curve("put, p50", minutes(), values(s -> s.putNs()[0] / 1e3))
        .curve("put, p99", minutes(), values(s -> s.putNs()[1] / 1e3));
  }

  private double[] minutes() {
    return values(sample -> sample.seconds() / 60);
  }

  private double[] values(ToDoubleFunction<Sample> of) {
    return samples.stream().mapToDouble(of).toArray();
  }
}
