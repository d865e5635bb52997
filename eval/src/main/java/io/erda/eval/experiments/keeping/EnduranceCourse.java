package io.erda.eval.experiments.keeping;

import static io.erda.eval.report.Figure.ns;
import static io.erda.eval.report.Figure.number;

import io.erda.eval.plot.LinePlot;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * The measurements of each cycle, and whether the last ones equal the first ones after ten minutes.
 */
final class EnduranceCourse {
  /** Number of cycles that begin before the store and the JVMs have settled. */
  private static final int SETTLING = 2;

  /** Number of cycles of which the beginning and the end are averaged. */
  private static final int JUDGED = 3;

  private final List<Sample> samples = new ArrayList<>();

  /**
   * The measurements of one quiet period.
   *
   * @param seconds since the beginning
   * @param server of the server's process
   * @param client of the process of a client that lives from the beginning
   * @param fileBytes of the store's directory
   * @param files in it
   * @param get of the store
   * @param put of the store, whose server sleeps before it
   * @param wake a byte to a sleeping process and back, which measures the machine
   */
  record Sample(
      double seconds,
      ProcessFigures server,
      ProcessFigures client,
      long fileBytes,
      long files,
      Latency get,
      Latency put,
      Latency wake) {}

  /**
   * The latency of an operation.
   *
   * @param p50Us median, microseconds
   * @param p99Us 99th percentile, microseconds
   */
  record Latency(double p50Us, double p99Us) {
    static Latency of(Histogram ns) {
      return new Latency(ns.getValueAtPercentile(50) / 1e3, ns.getValueAtPercentile(99) / 1e3);
    }
  }

  /**
   * A measurement that must not grow, apart from a factor and an amount for its variation.
   *
   * @param machine the part that depends on the machine: if it has grown, the measurement may grow
   *     in proportion; null for none
   */
  private record Flat(
      String what,
      double times,
      double besides,
      ToDoubleFunction<Sample> of,
      ToDoubleFunction<Sample> machine) {
    Flat(String what, double times, double besides, ToDoubleFunction<Sample> of) {
      this(what, times, besides, of, null);
    }

    double allowed(List<Sample> beginning, List<Sample> end) {
      double slower =
          machine == null ? 1 : Math.max(1, median(end, machine) / median(beginning, machine));
      return median(beginning, of) * times * slower + besides;
    }
  }

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
          new Flat("get, p50, us", 1.25, 0.2, s -> s.get().p50Us()),
          new Flat("get, p99, us", 1.5, 1, s -> s.get().p99Us()),
          new Flat("put, p50, us", 1.25, 0.2, s -> s.put().p50Us(), s -> s.wake().p50Us()),
          new Flat("put, p99, us", 1.5, 2, s -> s.put().p99Us(), s -> s.wake().p99Us()));

  /** Measurements of the machine, which are reported without a goal. */
  private static final Map<String, ToDoubleFunction<Sample>> MACHINE =
      new TreeMap<>(
          Map.of(
              "a byte to a sleeping process and back, p50, us", s -> s.wake().p50Us(),
              "a byte to a sleeping process and back, p99, us", s -> s.wake().p99Us()));

  void add(Sample sample) {
    samples.add(sample);
  }

  /**
   * Reports the measurements that must not grow, at the beginning and the end, and their course.
   */
  void tell(Report report) {
    int first = Math.min(SETTLING, samples.size() - 1);
    List<Sample> beginning = samples.subList(first, Math.min(first + JUDGED, samples.size()));
    List<Sample> end = samples.subList(Math.max(first, samples.size() - JUDGED), samples.size());
    Figures figures = new Figures("what must not grow");
    for (Flat flat : FLAT) {
      figures
          .row(flat.what())
          .add(
              number("after ten minutes", median(beginning, flat.of())),
              number("at the end", median(end, flat.of())).atMost(flat.allowed(beginning, end)),
              number("all cycles", values(flat.of())));
    }
    MACHINE.forEach((what, of) ->
        figures
            .row(what)
            .add(
                number("after ten minutes", median(beginning, of)),
                number("at the end", median(end, of)),
                number("all cycles", values(of))));
    report.add("course", figures).add(plot());
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
        .panel("median, us")
        .curve("get", minutes(), values(s -> s.get().p50Us()))
        .curve("put", minutes(), values(s -> s.put().p50Us()))
        .curve("wake-up", minutes(), values(s -> s.wake().p50Us()))
        .panel("99th percentile, us")
        .curve("get", minutes(), values(s -> s.get().p99Us()))
        .curve("put", minutes(), values(s -> s.put().p99Us()))
        .curve("wake-up", minutes(), values(s -> s.wake().p99Us()));
  }

  private double[] minutes() {
    return values(sample -> sample.seconds() / 60);
  }

  private double[] values(ToDoubleFunction<Sample> of) {
    return samples.stream().mapToDouble(of).toArray();
  }
}
