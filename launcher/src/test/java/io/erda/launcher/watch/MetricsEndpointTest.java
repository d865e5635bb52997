package io.erda.launcher.watch;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.protocol.ErdaException;
import io.erda.server.figures.FigureCatalogue;
import io.erda.server.figures.OpenMetrics;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The endpoint's answers to correct and incorrect requests. */
class MetricsEndpointTest {
  private static final int STRANGERS = 8;

  private final HttpClient client = HttpClient.newHttpClient();

  @Test
  void collectorsGetOpenMetricsAndOthersWhatEveryToolReads() throws Exception {
    Map<String, Long> figures = Map.of("puts", 7L, "server.version=1 \"x\"", 1L);
    try (MetricsEndpoint endpoint = start(() -> figures)) {
      String open =
          accepting(endpoint, "application/openmetrics-text;version=1.0.0;q=0.5, */*;q=0.1");
      assertEquals(OpenMetrics.text(figures), open);
      String prometheus =
          accepting(
              endpoint,
              "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1");
      assertEquals(open, prometheus);
      String plain = OpenMetrics.plainText(figures);
      assertEquals(plain, accepting(endpoint, "text/plain; version=0.0.4"));
      assertEquals(plain, accepting(endpoint, "*/*"));
      assertEquals(plain, accepting(endpoint, "text/plain, application/openmetrics-text; q=0.5"));
      assertTrue(plain.contains("\n# TYPE erda_puts_total counter\nerda_puts_total 7\n"), plain);
      assertTrue(plain.contains("# TYPE erda_server_version_info gauge\n"), plain);
      assertFalse(plain.contains("# UNIT") || plain.contains("# EOF"), plain);
    }
  }

  private String accepting(MetricsEndpoint endpoint, String accept) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(endpoint.url())).header("Accept", accept).build();
    HttpResponse<String> got = client.send(request, HttpResponse.BodyHandlers.ofString());
    assertEquals(200, got.statusCode());
    return got.body();
  }

  @Test
  void getAndHead() throws Exception {
    try (MetricsEndpoint endpoint = start(() -> Map.of("puts", 7L))) {
      HttpResponse<String> got = ask(endpoint.url(), "GET");
      assertEquals(200, got.statusCode());
      assertEquals(
          OpenMetrics.PLAIN_CONTENT_TYPE, got.headers().firstValue("Content-Type").orElse(""));
      assertTrue(got.body().contains("\nerda_puts_total 7\n"), got::body);
      HttpResponse<String> head = ask(endpoint.url(), "HEAD");
      assertEquals(200, head.statusCode());
      assertEquals("", head.body());
      assertEquals(
          Integer.toString(got.body().getBytes(UTF_8).length),
          head.headers().firstValue("Content-Length").orElse(""));
    }
  }

  /** The length of the answer had digits that no client reads. */
  @Test
  void anotherLocalesDigitsAreNotUsed() throws Exception {
    Locale before = Locale.getDefault(Locale.Category.FORMAT);
    Locale.setDefault(Locale.Category.FORMAT, Locale.forLanguageTag("fa-IR-u-nu-arabext"));
    try (MetricsEndpoint endpoint = start(() -> Map.of("puts", 7L))) {
      assertTrue(ask(endpoint.url(), "GET").body().contains("\nerda_puts_total 7\n"));
    } finally {
      Locale.setDefault(Locale.Category.FORMAT, before);
    }
  }

  @Test
  void otherPathsAndMethods() throws Exception {
    try (MetricsEndpoint endpoint = start(() -> Map.of("puts", 7L))) {
      assertEquals(404, ask(endpoint.url() + "foo", "GET").statusCode());
      assertEquals(404, ask(endpoint.url() + "/", "GET").statusCode());
      assertEquals(404, ask(endpoint.url().replace("/metrics", "/x"), "GET").statusCode());
      assertEquals(405, ask(endpoint.url(), "POST").statusCode());
      assertEquals(405, ask(endpoint.url(), "DELETE").statusCode());
      assertEquals(200, ask(endpoint.url() + "?a=b", "GET").statusCode());
    }
  }

  @Test
  void thePageAsksForNothingElse() throws Exception {
    try (MetricsEndpoint endpoint = start(() -> Map.of("puts", 7L))) {
      HttpResponse<String> page = ask(endpoint.url().replace("/metrics", "/"), "GET");
      assertEquals(200, page.statusCode());
      assertEquals(
          "text/html; charset=utf-8", page.headers().firstValue("Content-Type").orElse(""));
      String policy = page.headers().firstValue("Content-Security-Policy").orElse("");
      assertTrue(policy.startsWith("default-src 'none';"), policy);
      assertFalse(page.body().replace("http://www.w3.org/2000/svg", "").contains("//www"));
      assertFalse(Pattern.compile("(src|href)=\"(?!/metrics\")").matcher(page.body()).find());
    }
  }

  @Test
  void thePageAsksForWhatThereIs() throws Exception {
    Set<String> known = new HashSet<>();
    FigureCatalogue.all().forEach(figure -> known.add(OpenMetrics.sampleName(figure)));
    Set<String> asked = new HashSet<>();
    try (InputStream page = MetricsEndpoint.class.getResourceAsStream("dashboard.html")) {
      Matcher name =
          Pattern.compile("erda_[a-z0-9_]+").matcher(new String(page.readAllBytes(), UTF_8));
      while (name.find()) {
        asked.add(name.group());
      }
    }
    assertTrue(asked.size() > 20, asked::toString);
    asked.removeAll(known);
    assertEquals(Set.of(), asked);
  }

  @Test
  void noFiguresIsNoService() throws Exception {
    try (MetricsEndpoint endpoint =
        start(() -> {
          throw new ErdaException.Unavailable("the server has ended");
        })) {
      HttpResponse<String> got = ask(endpoint.url(), "GET");
      assertEquals(503, got.statusCode());
      assertEquals("the server has ended\n", got.body());
    }
  }

  /** Some send half a request and stay, some send what is no HTTP: the others are served. */
  @Test
  void strangersHoldUpNobody() throws Exception {
    List<Socket> strangers = new ArrayList<>();
    try (MetricsEndpoint endpoint = start(() -> Map.of("puts", 7L))) {
      int port = URI.create(endpoint.url()).getPort();
      for (int i = 0; i < STRANGERS; i++) {
        Socket slow = new Socket("127.0.0.1", port);
        strangers.add(slow);
        slow.getOutputStream().write("GET /metrics HTTP/1.1\r\nHos".getBytes(US_ASCII));
        try (Socket wrong = new Socket("127.0.0.1", port)) {
          wrong.getOutputStream().write(new byte[] {0, (byte) 0xff, 13, 10, 13, 10});
        }
      }
      assertEquals(200, ask(endpoint.url(), "GET").statusCode());
    } finally {
      for (Socket each : strangers) {
        each.close();
      }
    }
  }

  @Test
  void addresses() {
    InetSocketAddress portAlone = MetricsEndpoint.address("9464");
    assertTrue(portAlone.getAddress().isLoopbackAddress());
    assertEquals(9464, portAlone.getPort());
    assertTrue(MetricsEndpoint.address(":9464").getAddress().isLoopbackAddress());
    assertTrue(MetricsEndpoint.address("[::1]:9464").getAddress().isLoopbackAddress());
    assertEquals("0.0.0.0", MetricsEndpoint.address("0.0.0.0:1").getAddress().getHostAddress());
    for (String wrong : List.of("", "x", "1:x", "host:70000", "-1")) {
      assertThrows(IllegalArgumentException.class, () -> MetricsEndpoint.address(wrong), wrong);
    }
  }

  /** The oldest connection is closed when there are too many; later ones stay. */
  @Test
  void connectionsThatSayNothingMakeRoomForOthers() throws Exception {
    List<Socket> silent = new ArrayList<>();
    try (MetricsEndpoint endpoint = start(() -> Map.of("puts", 7L))) {
      int port = URI.create(endpoint.url()).getPort();
      for (int i = 0; i < MetricsEndpoint.CONNECTIONS_MAX; i++) {
        silent.add(new Socket("127.0.0.1", port));
      }
      assertEquals(200, ask(endpoint.url(), "GET").statusCode());
      awaitEnd(silent.getFirst());
      Socket latest = silent.getLast();
      latest.getOutputStream().write("GET /metrics HTTP/1.0\r\n\r\n".getBytes(US_ASCII));
      String said = new String(latest.getInputStream().readAllBytes(), UTF_8);
      assertTrue(said.startsWith("HTTP/1.1 200 OK\r\n"), said);
    } finally {
      for (Socket each : silent) {
        each.close();
      }
    }
  }

  @Test
  void whoSendsNoRequestIsCutOff() throws Exception {
    try (MetricsEndpoint endpoint = MetricsEndpoint.bind(MetricsEndpoint.address("0"), 1_000_000)) {
      endpoint.serve(() -> Map.of("puts", 7L), error -> {});
      try (Socket silent = new Socket("127.0.0.1", URI.create(endpoint.url()).getPort())) {
        awaitEnd(silent);
      }
    }
  }

  private static void awaitEnd(Socket socket) throws IOException {
    socket.setSoTimeout(60_000);
    assertEquals(-1, socket.getInputStream().read());
  }

  private static MetricsEndpoint start(MetricsEndpoint.Source source) throws IOException {
    MetricsEndpoint endpoint = MetricsEndpoint.bind(MetricsEndpoint.address("0"));
    endpoint.serve(source, error -> {});
    return endpoint;
  }

  private HttpResponse<String> ask(String url, String method) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create(url))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build(),
        HttpResponse.BodyHandlers.ofString(UTF_8));
  }
}
