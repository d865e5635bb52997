package io.erda.eval.experiments;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.eval.Experiment;
import io.erda.eval.process.CpuTime;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Table;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;
import site.ycsb.generator.ScrambledZipfianGenerator;

/**
 * Erda beside Redo Logging and Read After Write, as the paper compares them (figures 14 to 25): the
 * same objects, the same keys of a Zipfian distribution (0.99), each system in a server's process
 * of its own, over shared memory, round after round in one run. One client, in this process.
 *
 * <p>Processor time is that of all threads of the server. Bytes of persistent memory are those that
 * server and client stored, counted in the pmem layer and by the device.
 */
final class BaselinesExperiment implements Experiment {
  private static final int VALUE_BYTES = 1024;
  private static final int SEQUENCE = 1 << 16;

  /** A share of updates, and what Erda must be to the better of the others. */
  private enum Load {
    YCSB_C("YCSB-C", 0, 2.0),
    YCSB_B("YCSB-B", 5, 2.0),
    YCSB_A("YCSB-A", 50, 1.5),
    UPDATES("update-only", 100, 1.2);

    final String label;
    final int updatePercent;
    final double throughputRatioMin;

    Load(String label, int updatePercent, double throughputRatioMin) {
      this.label = label;
      this.updatePercent = updatePercent;
      this.throughputRatioMin = throughputRatioMin;
    }
  }

  private static final double P50_RATIO_MAX = 0.7;
  private static final double CPU_RATIO_MAX_B = 1 / 20.0;
  private static final double BYTES_RATIO_MAX = 0.55;

  @Override
  public String name() {
    return "baselines";
  }

  @Override
  public String what() {
    return "Erda beside Redo Logging and Read After Write over shared memory: at least 2 times the"
        + " throughput of YCSB-C and B, 1.5 times of A, 1.2 times of updates alone; at most 1/20 of"
        + " the server's processor time in B, and 0.55 of the bytes of an update";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int objects = context.quick() ? 10_000 : 100_000;
    int operations = context.quick() ? 20_000 : 200_000;
    int rounds = context.rounds() > 0 ? context.rounds() : context.quick() ? 3 : 9;
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    double[] bytes = bytesPerUpdate(context, dataset, operations / 4);
    List<BaselineSubject> subjects = BaselineSubject.startAll(context, dataset, false);
    Table table =
        new Table(
            "load", "system", "op/s", "p50", "p99", "server CPU/op", "NVM bytes/update", "Erda is");
    ObjectNode json = new ObjectMapper().createObjectNode();
    json.put("valueBytes", VALUE_BYTES).put("objects", objects).put("operations", operations);
    List<String> missed = new ArrayList<>();
    try {
      for (Load load : Load.values()) {
        context.progress().step(load.label);
        List<Series> series = measure(context, subjects, dataset, load, operations, rounds);
        context.progress().done("");
        report(load, series, bytes, table, json.putObject(load.label), missed);
      }
    } finally {
      subjects.forEach(BaselineSubject::close);
    }
    return new Report(table.toString(), json, missed);
  }

  /** What one system did, round by round. */
  private static final class Series {
    final String name;
    final Histogram latencies = new Histogram(60_000_000_000L, 3);
    final double[] perSecond;
    final double[] p50Ns;
    final double[] cpuNs;

    Series(String name, int rounds) {
      this.name = name;
      perSecond = new double[rounds];
      p50Ns = new double[rounds];
      cpuNs = new double[rounds];
    }
  }

  /** Of each system, by stores of their own: counting slows them down. */
  private static double[] bytesPerUpdate(Context context, Dataset dataset, int updates)
      throws InterruptedException {
    Keys keys = new Keys(dataset, 100);
    List<BaselineSubject> subjects = BaselineSubject.startAll(context, dataset, true);
    double[] bytes = new double[subjects.size()];
    for (int i = 0; i < bytes.length; i++) {
      try (BaselineSubject subject = subjects.get(i)) {
        subject.settle();
        long before = subject.nvmBytes();
        for (int update = 0; update < updates; update++) {
          subject.put(keys.keys[update & SEQUENCE - 1], keys.value(update));
        }
        subject.settle(); // what is applied later counts too
        bytes[i] = (subject.nvmBytes() - before) / (double) updates;
      }
    }
    return bytes;
  }

  /** One round warms up and does not count. */
  private static List<Series> measure(
      Context context,
      List<BaselineSubject> subjects,
      Dataset dataset,
      Load load,
      int operations,
      int rounds)
      throws InterruptedException {
    List<Series> series =
        subjects.stream().map(subject -> new Series(subject.name(), rounds)).toList();
    Keys keys = new Keys(dataset, load.updatePercent);
    for (int round = -1; round < rounds; round++) {
      context.progress().at(round < 0 ? "warm-up" : "round " + (round + 1) + " of " + rounds);
      for (int i = 0; i < subjects.size(); i++) {
        // Every other round the other way round.
        int which = (round & 1) == 0 ? i : subjects.size() - 1 - i;
        run(subjects.get(which), keys, operations, series.get(which), round);
      }
    }
    return series;
  }

  private static void run(
      BaselineSubject subject, Keys keys, int operations, Series series, int round)
      throws InterruptedException {
    Histogram latencies = new Histogram(60_000_000_000L, 3);
    subject.settle();
    CpuTime cpuBefore = subject.cpu();
    long beganNs = System.nanoTime();
    long lastNs = beganNs;
    for (int i = 0; i < operations; i++) {
      int at = i & SEQUENCE - 1;
      if (keys.isUpdate[at]) {
        subject.put(keys.keys[at], keys.value(i));
      } else {
        subject.get(keys.keys[at]);
      }
      long nowNs = System.nanoTime();
      latencies.recordValue(nowNs - lastNs);
      lastNs = nowNs;
    }
    double elapsedNs = lastNs - beganNs;
    subject.settle(); // what is applied later costs too
    long cpuNs = subject.cpu().since(cpuBefore);
    if (round >= 0) {
      series.perSecond[round] = operations * 1e9 / elapsedNs;
      series.p50Ns[round] = latencies.getValueAtPercentile(50);
      series.cpuNs[round] = cpuNs / (double) operations;
      series.latencies.add(latencies);
    }
  }

  /** What is asked for, in an order that all systems get. */
  private static final class Keys {
    final MemorySegment[] keys;
    final boolean[] isUpdate = new boolean[SEQUENCE];
    private final Dataset dataset;

    Keys(Dataset dataset, int updatePercent) {
      this.dataset = dataset;
      ScrambledZipfianGenerator zipfian = new ScrambledZipfianGenerator(0, dataset.objects() - 1);
      SplittableRandom random = new SplittableRandom(99);
      int[] numbers = new int[SEQUENCE];
      for (int i = 0; i < SEQUENCE; i++) {
        numbers[i] = zipfian.nextValue().intValue();
        isUpdate[i] = random.nextInt(100) < updatePercent;
      }
      keys = Dataset.keys(numbers);
    }

    /** The bytes are the same for some operations, so that making them is not what is measured. */
    MemorySegment value(int operation) {
      return (operation & 0x3FF) == 0 ? dataset.value(operation) : dataset.sameValue();
    }
  }

  private static void report(
      Load load,
      List<Series> series,
      double[] bytes,
      Table table,
      ObjectNode json,
      List<String> missed) {
    Series erda = series.getFirst();
    for (int i = 0; i < bytes.length; i++) {
      Series each = series.get(i);
      double faster = ratio(erda.perSecond, each.perSecond);
      table.row(
          load.label,
          each.name,
          Table.count(Rounds.median(each.perSecond)),
          Table.time(Rounds.median(each.p50Ns)),
          Table.time(each.latencies.getValueAtPercentile(99)),
          Table.time(Rounds.median(each.cpuNs)),
          load == Load.UPDATES ? Table.count(bytes[i]) : "-",
          each == erda ? "" : Table.decimal(faster) + " times as fast");
      ObjectNode node = json.putObject(each.name);
      node.put("opsPerSecond", Rounds.median(each.perSecond))
          .put("p50Ns", Rounds.median(each.p50Ns))
          .put("p99Ns", each.latencies.getValueAtPercentile(99))
          .put("serverCpuNsPerOperation", Rounds.median(each.cpuNs))
          .put("nvmBytesPerUpdate", bytes[i])
          .put("erdaThroughputRatio", faster);
      if (each == erda) {
        continue;
      }
      require(load, each, "the throughput", faster, load.throughputRatioMin, true, missed);
      if (load.updatePercent < 50) {
        require(load, each, "the p50", ratio(erda.p50Ns, each.p50Ns), P50_RATIO_MAX, false, missed);
      }
      if (load == Load.YCSB_B) {
        double cpu = ratio(erda.cpuNs, each.cpuNs);
        require(load, each, "the server's CPU", cpu, CPU_RATIO_MAX_B, false, missed);
      }
      if (load == Load.UPDATES) {
        require(load, each, "the NVM bytes", bytes[0] / bytes[i], BYTES_RATIO_MAX, false, missed);
      }
    }
  }

  /** The median of the ratios of each round. */
  private static double ratio(double[] of, double[] to) {
    double[] ratios = new double[of.length];
    for (int i = 0; i < of.length; i++) {
      ratios[i] = of[i] / to[i];
    }
    return Rounds.median(ratios);
  }

  private static void require(
      Load load,
      Series other,
      String what,
      double ratio,
      double bound,
      boolean atLeast,
      List<String> missed) {
    if (atLeast ? ratio < bound : ratio > bound) {
      missed.add(
          String.format(
              Locale.ROOT,
              "%s: Erda has %.3f of %s of %s, expected at %s %.3f",
              load.label,
              ratio,
              what,
              other.name,
              atLeast ? "least" : "most",
              bound));
    }
  }
}
