package io.erda.eval;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.client.ErdaClient;
import io.erda.console.Numbers;
import io.erda.console.Progress;
import io.erda.console.TextTable;
import io.erda.eval.load.LoadChild;
import io.erda.eval.load.LoadPhase;
import io.erda.eval.load.LoadResult;
import io.erda.eval.load.Percentiles;
import io.erda.eval.process.Children;
import io.erda.eval.process.CpuTime;
import io.erda.eval.process.DeviceChoice;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ServerChild;
import io.erda.eval.report.StatsFigures;
import io.erda.ycsb.Workloads;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * Runs a server in a separate process, and YCSB in another one: load, then C, B, A and update-only,
 * Zipfian 0.99, one field of the value's size. The load has several inserts in flight for each
 * thread, the workloads one operation.
 *
 * <p>Latencies are those that a YCSB thread sees, binding included. The server's processor time is
 * that of all its threads by the scheduler's account, less that of an equal idle time. NVM bytes
 * per update are the bytes that the server stored plus those that the clients wrote into its
 * memory.
 */
public final class Quickstart {
  private static final long IDLE_INTERVAL_MS = 1000;
  private static final long WARMUP_MAX = 100_000;
  private static final long REGION_BYTES = 256L << 20;

  /**
   * The bytes of a record in the log besides its value: key, header, record format, padding, and
   * unused ends of extents.
   */
  private static final int OVERHEAD_BYTES = 128;

  /** The parameters. */
  public record Options(
      long records,
      long operations,
      int valueBytes,
      int threads,
      DeviceChoice transport,
      Path temporaryDirectory) {}

  /** One line of the result. */
  public record WorkloadResult(
      String name,
      int threads,
      LoadResult load,
      double serverCpuNsPerOperation,
      double nvmBytesPerUpdate) {}

  /** The whole result. */
  public record Result(Options options, LoadResult loading, List<WorkloadResult> workloads) {
    public Result {
      workloads = List.copyOf(workloads);
    }

    /** Number of operations that did not answer OK. */
    public long errors() {
      return loading.errors()
          + workloads.stream().mapToLong(workload -> workload.load().errors()).sum();
    }
  }

  private final Children children;
  private final Jvm jvm;
  private final Options options;
  private final Progress progress;

  public Quickstart(Children children, Jvm jvm, Options options, Progress progress) {
    this.children = children;
    this.jvm = jvm;
    this.options = options;
    this.progress = progress;
  }

  /** Runs everything; closing {@code children} ends all processes and removes all files. */
  public Result run() throws InterruptedException, IOException {
    Path data = children.temporaryDirectory(options.temporaryDirectory(), "erda-quickstart-");
    progress.step("start a server in a process of its own");
    ServerChild server = ServerChild.start(children, jvm, data, serverOptions());
    progress.done("process " + server.pid() + ", " + server.uri());
    LoadChild load = LoadChild.start(children, jvm, server.uri());
    double idleCpuNsPerNs = idleCpu(server);
    LoadResult loading = load(load);
    List<WorkloadResult> results = new ArrayList<>();
    try (ErdaClient figures = ErdaClient.connect(server.uri())) {
      for (String[] workload : workloads()) {
        results.add(run(workload[0], workload[1], server, load, figures, idleCpuNsPerNs));
      }
    }
    load.end();
    server.stop();
    return new Result(options, loading, results);
  }

  private static String[][] workloads() {
    return new String[][] {
      {"C", "workloadc"}, {"B", "workloadb"}, {"A", "workloada"}, {"update-only", "updateonly"}
    };
  }

  private List<String> serverOptions() throws IOException {
    double updates = options.operations() * 1.55 + 3.0 * WARMUP_MAX;
    double bytes = (options.records() + updates) * (options.valueBytes() + OVERHEAD_BYTES) * 1.1;
    long capacity = (long) (bytes / REGION_BYTES + 2) * REGION_BYTES;
    long buckets = Math.max(1024, Long.highestOneBit(options.records() * 2 - 1) * 2);
    List<String> all = new ArrayList<>(options.transport().serverOptions());
    List<String> geometry =
        List.of(
            "--region-bytes",
            Long.toString(REGION_BYTES),
            "--capacity",
            Long.toString(capacity),
            "--buckets",
            Long.toString(buckets),
            "--counted");
    all.addAll(geometry);
    return all;
  }

  private double idleCpu(ServerChild server) throws InterruptedException {
    progress.step("idle server");
    Thread.sleep(500); // lets the server's JVM settle
    CpuTime before = server.cpu();
    long startNs = System.nanoTime();
    Thread.sleep(IDLE_INTERVAL_MS);
    double share = server.cpu().since(before) / (double) (System.nanoTime() - startNs);
    progress.done(String.format(java.util.Locale.ROOT, "%.2f%% of a core", share * 100));
    return share;
  }

  private LoadResult load(LoadChild load) {
    progress.step(
        "load "
            + Numbers.count(options.records())
            + " records of "
            + Numbers.count(options.valueBytes())
            + " bytes");
    LoadPhase phase =
        LoadPhase.of(true, options.threads(), options.records(), properties("workloadc"));
    LoadResult result = load.run(phase, done -> progress.at(percent(done, options.records())));
    progress.done(
        Numbers.count(result.throughputOpsPerSecond())
            + " inserts/s, up to "
            + LoadPhase.INSERTS_IN_FLIGHT
            + " in flight for each thread"
            + errors(result, load));
    return result;
  }

  private WorkloadResult run(
      String name,
      String workload,
      ServerChild server,
      LoadChild load,
      ErdaClient figures,
      double idleCpuNsPerNs) {
    progress.step("YCSB " + name + ", " + Numbers.count(options.operations()) + " operations");
    long warmup = Math.min(options.operations() / 5, WARMUP_MAX);
    load.prepare(
        LoadPhase.of(false, options.threads(), options.operations(), properties(workload))
            .withWarmup(warmup));
    Map<String, Long> statsBefore = figures.stats();
    CpuTime cpuBefore = server.cpu();
    long startNs = System.nanoTime();
    load.go();
    LoadResult result = load.result(done -> progress.at(percent(done, options.operations())));
    long cpuNs = server.cpu().since(cpuBefore);
    double idleNs = (System.nanoTime() - startNs) * idleCpuNsPerNs;
    Map<String, Long> statsAfter = figures.stats();
    progress.done(
        Numbers.count(result.throughputOpsPerSecond()) + " operations/s" + errors(result, load));
    long nvmBytes = StatsFigures.nvmBytes(statsAfter) - StatsFigures.nvmBytes(statsBefore);
    return new WorkloadResult(
        name,
        options.threads(),
        result,
        Math.max(0, cpuNs - idleNs) / result.operations(),
        result.updates() == 0 ? 0 : nvmBytes / (double) result.updates());
  }

  private Properties properties(String workload) {
    Properties properties = Workloads.load(workload);
    properties.setProperty("recordcount", Long.toString(options.records()));
    properties.setProperty("operationcount", Long.toString(options.operations()));
    properties.setProperty("fieldcount", "1");
    properties.setProperty("fieldlength", Integer.toString(options.valueBytes()));
    return properties;
  }

  private static String percent(long done, long all) {
    return done * 100 / Math.max(1, all) + "%";
  }

  private static String errors(LoadResult result, LoadChild load) {
    return result.errors() == 0 ? "" : ", " + result.errors() + " errors" + load.errors();
  }

  /** The result for people. */
  public static String table(Result result) {
    TextTable table =
        new TextTable(
            "workload",
            "threads",
            "operations/s",
            "read p50",
            "p99",
            "update p50",
            "p99",
            "server CPU/op",
            "NVM bytes/update");
    for (WorkloadResult workload : result.workloads()) {
      Percentiles read = workload.load().read();
      Percentiles update = workload.load().update();
      table.row(
          workload.name(),
          workload.threads(),
          Numbers.count(workload.load().throughputOpsPerSecond()),
          read.count() == 0 ? "-" : Numbers.time(read.p50()),
          read.count() == 0 ? "-" : Numbers.time(read.p99()),
          update.count() == 0 ? "-" : Numbers.time(update.p50()),
          update.count() == 0 ? "-" : Numbers.time(update.p99()),
          Numbers.time(workload.serverCpuNsPerOperation()),
          workload.load().updates() == 0 ? "-" : Numbers.count(workload.nvmBytesPerUpdate()));
    }
    return table.toString();
  }

  /** The result for programs; latencies of a kind of operation that did not occur are null. */
  public static ObjectNode json(Result result) {
    ObjectNode json = new ObjectMapper().createObjectNode();
    json.put("records", result.options().records());
    json.put("valueBytes", result.options().valueBytes());
    json.put("device", result.options().transport().toString());
    ArrayNode workloads = json.putArray("workloads");
    for (WorkloadResult workload : result.workloads()) {
      ObjectNode node = workloads.addObject();
      node.put("name", workload.name());
      node.put("threads", workload.threads());
      node.put("operations", workload.load().operations());
      node.put("errors", workload.load().errors());
      node.put("throughputOpsPerSecond", workload.load().throughputOpsPerSecond());
      putLatency(node, "readLatencyNs", workload.load().read());
      putLatency(node, "updateLatencyNs", workload.load().update());
      node.put("serverCpuNsPerOperation", workload.serverCpuNsPerOperation());
      if (workload.load().updates() == 0) {
        node.putNull("nvmBytesPerUpdate");
      } else {
        node.put("nvmBytesPerUpdate", workload.nvmBytesPerUpdate());
      }
    }
    return json;
  }

  private static void putLatency(ObjectNode node, String name, Percentiles latency) {
    if (latency.count() == 0) {
      node.putNull(name);
      return;
    }
    node.putObject(name)
        .put("p50", latency.p50())
        .put("p99", latency.p99())
        .put("p999", latency.p999());
  }
}
