package io.erda.launcher.watch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.erda.client.ErdaClient;
import io.erda.server.ErdaServer;
import io.erda.server.Listening;
import io.erda.server.ServerOptions;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A Prometheus that scrapes a server under load has an answer to each question of the dashboard's.
 * Skipped where there is no {@code prometheus} on the path.
 */
class PrometheusTest {
  private static final Path DASHBOARD = Path.of("..", "docs", "grafana-dashboard.json");
  private static final long ANSWER_NS_MAX = 60_000_000_000L;
  private static final byte[] HOT = {1};
  private static final String CONFIGURATION =
      """
      global: {scrape_interval: 1s}
      scrape_configs:
        - job_name: erda
          static_configs: [{targets: ["%s"]}]
      """;

  @TempDir Path directory;
  private final HttpClient http = HttpClient.newHttpClient();
  private URI prometheus;
  private volatile boolean ended;

  @Test
  void answersEachQuestionOfTheDashboard() throws Exception {
    Path program = program();
    assumeTrue(program != null, "prometheus is not installed");
    ServerOptions options =
        ServerOptions.DEFAULTS
            .withCapacityBytes(64 << 20)
            .withRegionBytes(1 << 20)
            .withSegmentBytes(1 << 16)
            .withBuckets(1 << 12)
            .withListening(List.of(new Listening("erda", "127.0.0.1:0", Map.of())));
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), options);
        MetricsEndpoint endpoint = MetricsEndpoint.bind(MetricsEndpoint.address("0"))) {
      endpoint.serve(() -> server.figures(Duration.ofSeconds(20)), error -> {});
      Thread load = Thread.ofPlatform().start(() -> load(server.uri()));
      Thread other = Thread.ofPlatform().start(() -> load(server.uri()));
      Process process = start(program, URI.create(endpoint.url()).getAuthority());
      try {
        String instance = URI.create(endpoint.url()).getAuthority();
        List<String> unanswered = new ArrayList<>();
        for (String question : questions(instance)) {
          if (!isAnswered(process, question)) {
            unanswered.add(question);
          }
        }
        assertEquals(List.of(), unanswered);
      } finally {
        process.destroy();
        assertTrue(process.waitFor(1, TimeUnit.MINUTES));
        ended = true;
        load.join();
        other.join();
      }
    }
  }

  /** promtool accepts the text that curl fetches, without an error and without a warning. */
  @Test
  void promtoolFindsNothingWrong() throws Exception {
    Path promtool = program("promtool");
    assumeTrue(promtool != null, "promtool is not installed");
    ServerOptions options =
        ServerOptions.DEFAULTS
            .withCapacityBytes(16 << 20)
            .withListening(List.of(new Listening("erda", "127.0.0.1:0", Map.of())));
    String text;
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), options);
        MetricsEndpoint endpoint = MetricsEndpoint.bind(MetricsEndpoint.address("0"))) {
      endpoint.serve(() -> server.figures(Duration.ofSeconds(20)), error -> {});
      text =
          http.send(
                  HttpRequest.newBuilder(URI.create(endpoint.url())).build(),
                  HttpResponse.BodyHandlers.ofString())
              .body();
    }
    Path file = Files.writeString(directory.resolve("metrics.txt"), text);
    Process check =
        new ProcessBuilder(promtool.toString(), "check", "metrics")
            .redirectInput(file.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(check.getInputStream().readAllBytes(), UTF_8);
    assertEquals(0, check.waitFor(), said);
    assertEquals("", said);
  }

  private static Path program() {
    return program("prometheus");
  }

  private static Path program(String name) {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator))
        .map(each -> Path.of(each, name))
        .filter(Files::isExecutable)
        .findFirst()
        .orElse(null);
  }

  private Process start(Path program, String target) throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    prometheus = URI.create("http://127.0.0.1:" + port + "/");
    Path configuration = directory.resolve("prometheus.yml");
    Files.writeString(configuration, CONFIGURATION.formatted(target));
    return new ProcessBuilder(
            program.toString(),
            "--config.file=" + configuration,
            "--storage.tsdb.path=" + directory.resolve("series"),
            "--web.listen-address=127.0.0.1:" + port)
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("prometheus.log").toFile())
        .start();
  }

  /** Two clients that change the same key, so that conflicts are shown on the dashboard, too. */
  private void load(String uri) {
    byte[] value = new byte[1024];
    try (ErdaClient client = ErdaClient.connect(uri)) {
      for (int i = 0; !ended; i = (i + 1) % 1000) {
        byte[] key = ("key" + i).getBytes(UTF_8);
        client.put(key, value);
        client.get(key);
        byte[] before = client.get(HOT);
        value[0]++;
        boolean ignored =
            before == null
                ? client.putIfAbsent(HOT, value)
                : client.compareAndSet(HOT, before, value);
        if (i % 10 == 0) {
          client.delete(key);
          pause();
        }
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(1);
    } catch (InterruptedException e) {
      // The thread is never interrupted.
    }
  }

  /** Returns the queries of the dashboard, for this server, and with seconds instead of minutes. */
  private static List<String> questions(String instance) throws IOException {
    JsonNode dashboard = new ObjectMapper().readTree(Files.readString(DASHBOARD, UTF_8));
    List<String> questions = new ArrayList<>();
    for (JsonNode target : dashboard.findValues("expr")) {
      questions.add(
          target
              .asText()
              .replace("$instance", instance)
              .replace("$__rate_interval", "4s")
              // A doubling of a small table is over between two looks at it.
              .replace("} == 1", "} >= 0"));
    }
    assertTrue(questions.size() > 20, questions::toString);
    assertTrue(questions.stream().noneMatch(each -> each.contains("$")), questions::toString);
    return questions;
  }

  private boolean isAnswered(Process process, String question) throws Exception {
    long endNs = System.nanoTime() + ANSWER_NS_MAX;
    while (System.nanoTime() - endNs < 0) {
      assertTrue(process.isAlive(), () -> log());
      try {
        HttpResponse<String> got =
            http.send(
                HttpRequest.newBuilder(
                        prometheus.resolve(
                            "api/v1/query?query=" + URLEncoder.encode(question, UTF_8)))
                    .build(),
                HttpResponse.BodyHandlers.ofString());
        JsonNode answer = new ObjectMapper().readTree(got.body());
        if (got.statusCode() != 503) { // so it says while it starts
          assertEquals("success", answer.path("status").asText(), question + ": " + got.body());
          if (!answer.path("data").path("result").isEmpty()) {
            return true;
          }
        }
      } catch (IOException e) {
        // It does not listen yet.
      }
      Thread.sleep(200);
    }
    return false;
  }

  private String log() {
    try {
      return Files.readString(directory.resolve("prometheus.log"));
    } catch (IOException e) {
      return e.toString();
    }
  }
}
