package io.erda.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.erda.client.ErdaClient;
import io.erda.console.Progress;
import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.DeviceChoice;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ServerChild;
import io.erda.protocol.PutMode;
import io.erda.server.Committers;
import io.erda.torture.Torture;
import io.erda.torture.TortureOptions;
import io.erda.torture.TortureResult;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands as processes of their own: they end as they should and leave nothing. */
@Tag("long")
class ProcessesTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final List<String> SMALL =
      List.of("--region-bytes", "16M", "--capacity", "256M", "--buckets", "4096");

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(strings = {"shm", "tcp"})
  void quickstartFromEndToEnd(String device) throws Exception {
    Path json = directory.resolve("result.json");
    Path stores = Files.createDirectory(directory.resolve("stores"));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode =
        Main.run(
            new PrintWriter(out),
            new PrintWriter(err),
            true,
            "quickstart",
            "--device",
            device,
            "--records",
            "300",
            "--operations",
            "1000",
            "--value-bytes",
            "100",
            "--threads",
            "2",
            "--directory",
            stores.toString(),
            "--json",
            json.toString());
    assertEquals(0, exitCode, err::toString);
    assertTrue(out.toString().contains("update-only"), out::toString);
    assertTrue(err.toString().contains("up to 16 in flight for each thread"), err::toString);
    JsonNode result = new ObjectMapper().readTree(json.toFile());
    assertEquals(300, result.get("records").asInt());
    assertEquals(100, result.get("valueBytes").asInt());
    assertEquals(device, result.get("device").asText());
    assertEquals(
        List.of("C", "B", "A", "update-only"), result.get("workloads").findValuesAsText("name"));
    for (JsonNode workload : result.get("workloads")) {
      assertEquals(2, workload.get("threads").asInt());
      assertEquals(1000, workload.get("operations").asInt());
      assertEquals(0, workload.get("errors").asInt());
      assertTrue(workload.get("throughputOpsPerSecond").asDouble() > 0);
      assertTrue(workload.get("serverCpuNsPerOperation").asDouble() >= 0);
    }
    JsonNode reads = result.get("workloads").get(0);
    assertTrue(
        reads.get("readLatencyNs").get("p50").asLong() > 0
            && reads.get("readLatencyNs").has("p999"));
    assertTrue(reads.get("updateLatencyNs").isNull());
    JsonNode updates = result.get("workloads").get(3);
    assertTrue(updates.get("updateLatencyNs").get("p99").asLong() > 0);
    assertTrue(updates.get("nvmBytesPerUpdate").asDouble() > 100);
    assertEmpty(stores);
  }

  @Test
  void aServerEndsCleanlyOnSigtermAndWithItsParent() throws Exception {
    try (Children children = new Children()) {
      ServerChild server = ServerChild.start(children, jvm(), directory.resolve("data"), SMALL);
      try (ErdaClient client = ErdaClient.connect(server.uri())) {
        client.put(new byte[] {1}, new byte[] {2});
      }
      server.stop(); // throws unless it ends with 0
      ServerChild again = ServerChild.start(children, jvm(), directory.resolve("data"), List.of());
      try (ErdaClient client = ErdaClient.connect(again.uri())) {
        assertEquals(2, client.get(new byte[] {1})[0]);
      }
    }
  }

  @Test
  void theStockYcsbClientAndOurs() throws Exception {
    String workload = Path.of("..", "workloads", "workloada").toString();
    try (Children children = new Children()) {
      ServerChild server = ServerChild.start(children, jvm(), directory.resolve("data"), SMALL);
      String uri = "erda.uri=" + server.uri();
      List<String> stock =
          jvm()
              .command(
                  site.ycsb.Client.class,
                  "-load",
                  "-db",
                  "io.erda.ycsb.ErdaDb",
                  "-P",
                  workload,
                  "-p",
                  "recordcount=200",
                  "-p",
                  uri);
      Child load = children.start("YCSB", stock);
      assertTrue(load.await("[INSERT], Return=OK", LONG).endsWith("200"));
      assertEquals(0, load.awaitEnd(LONG));
      Child run = children.start("erda ycsb", ycsb("run", workload, uri, "recordcount=200"));
      assertEquals(0, run.awaitEnd(LONG), run::errorTail);
      List<String> more = List.of("recordcount=400", "insertstart=200", "insertcount=200");
      Child batched = children.start("erda ycsb", ycsb("load", workload, batched(uri, more)));
      assertTrue(batched.await("[INSERT], Return=BATCHED_OK", LONG).endsWith("200"));
      assertEquals(0, batched.awaitEnd(LONG), batched::errorTail);
      Child all = children.start("erda ycsb", ycsb("run", workload, uri, "recordcount=400"));
      assertEquals(0, all.awaitEnd(LONG), all::errorTail);
      Child missing = children.start("erda ycsb", ycsb("run", workload, uri, "recordcount=100000"));
      assertEquals(1, missing.awaitEnd(LONG));
      assertTrue(missing.errorTail().contains("NOT_FOUND"), missing::errorTail);
      server.stop();
    }
  }

  /** SIGTERM ends the server by a halt, which must not cut the recording short. */
  @Test
  void aRecordingIsWholeWhenTheServerEnds() throws Exception {
    Path file = directory.resolve("erda.jfr");
    List<String> flags =
        List.of("-XX:StartFlightRecording:settings=none,+io.erda.*#enabled=true,filename=" + file);
    try (Children children = new Children()) {
      List<String> server = new java.util.ArrayList<>();
      server.addAll(List.of("server", "--data", directory.resolve("data").toString(), "--child"));
      server.addAll(SMALL);
      Child child =
          children.start(
              "the server",
              jvm().with(flags.toArray(String[]::new)).erda(server.toArray(String[]::new)));
      child.await("serving ", LONG);
      try (ErdaClient client = ErdaClient.connect("erda+shm:" + directory.resolve("data"))) {
        client.put(new byte[] {1}, new byte[] {2});
      }
      new ProcessBuilder("kill", "-TERM", Long.toString(child.pid())).start().waitFor();
      assertEquals(0, child.awaitEnd(LONG), child::errorTail);
    }
    List<String> names =
        RecordingFile.readAllEvents(file).stream()
            .map(event -> event.getEventType().getName())
            .toList();
    assertTrue(
        names.containsAll(List.of("io.erda.Recovery", "io.erda.RegionLinked")), names::toString);
  }

  @Test
  void tortureFindsNothing() throws Exception {
    Path stores = Files.createDirectory(directory.resolve("stores"));
    long seed = Long.getLong("erda.seed", System.nanoTime());
    TortureResult result;
    try (Children children = new Children()) {
      TortureOptions options =
          new TortureOptions(
              12,
              0,
              2,
              seed,
              10_000,
              DeviceChoice.SHM,
              PutMode.PUBLISH,
              Committers.NONE,
              true,
              stores);
      result = new Torture(children, jvm(), options, new Silence()).run();
    }
    assertEquals(List.of(), result.violations(), "replay with -Derda.seed=" + seed);
    assertTrue(result.operations() > 100, result::toString);
    assertTrue(result.space().regionsFreed() > 0, result::toString);
    assertTrue(
        5 * result.servers().killsInRecovery() >= result.servers().kills(), result::toString);
    assertEmpty(stores);
  }

  /** YCSB's client only prints what a binding throws at the end, and ends with 0. */
  @Test
  void aBatchedLoadIntoAFullStoreFails() throws Exception {
    String workload = Path.of("..", "workloads", "workloada").toString();
    List<String> tiny =
        List.of("--region-bytes", "1M", "--segment-bytes", "512K", "--capacity", "2M");
    try (Children children = new Children()) {
      ServerChild server = ServerChild.start(children, jvm(), directory.resolve("data"), tiny);
      String uri = "erda.uri=" + server.uri();
      // Few enough to be in flight at once: no operation may be left to report a failure.
      List<String> large = List.of("recordcount=12", "fieldcount=1", "fieldlength=250000");
      Child load = children.start("erda ycsb", ycsb("load", workload, batched(uri, large)));
      assertEquals(1, load.awaitEnd(LONG), load::errorTail);
      assertTrue(load.errorTail().contains("INSERT ERROR"), load::errorTail);
      server.stop();
    }
  }

  private static String[] batched(String uri, List<String> properties) {
    return Stream.concat(Stream.of(uri, "batchsize=16"), properties.stream())
        .toArray(String[]::new);
  }

  private static List<String> ycsb(String phase, String workload, String... properties) {
    List<String> arguments =
        new java.util.ArrayList<>(
            List.of("ycsb", phase, "-P", workload, "-p", "operationcount=400"));
    for (String property : properties) {
      arguments.addAll(List.of("-p", property));
    }
    return jvm().erda(arguments.toArray(String[]::new));
  }

  private static Jvm jvm() {
    return Jvm.current();
  }

  private static void assertEmpty(Path stores) throws java.io.IOException {
    try (Stream<Path> left = Files.list(stores)) {
      assertEquals(List.of(), left.toList());
    }
  }

  private static final class Silence implements Progress {
    @Override
    public void step(String what) {}

    @Override
    public void at(String how) {}

    @Override
    public void done(String how) {}
  }
}
