package io.erda.launcher.watch;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.erda.protocol.ErdaException;
import io.erda.server.figures.OpenMetrics;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Answers {@code GET /metrics} with a server's figures as OpenMetrics text. It has threads of its
 * own, as many as connections at most, so that somebody who sends or reads slowly holds up nobody
 * else; he is cut off after some seconds. Nothing in it needs the server's thread but the figures,
 * which are asked for once for all who ask at a time.
 */
public final class MetricsEndpoint implements AutoCloseable {
  /** Where the figures come from. */
  @FunctionalInterface
  public interface Source {
    /**
     * All figures by name.
     *
     * @throws ErdaException when there are none to be had now
     */
    Map<String, Long> figures() throws InterruptedException;
  }

  private static final String PATH = "/metrics";
  private static final int CONNECTIONS_MAX = 16;
  private static final int BACKLOG = 16;
  private static final long THREAD_IDLE_S = 10;

  private final HttpServer http;
  private final ExecutorService threads;

  private MetricsEndpoint(HttpServer http, ExecutorService threads) {
    this.http = http;
    this.threads = threads;
  }

  /**
   * Starts to answer.
   *
   * @throws IOException when the address can't be taken
   */
  public static MetricsEndpoint start(InetSocketAddress address, Source source) throws IOException {
    limit();
    HttpServer http = HttpServer.create(address, BACKLOG);
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            CONNECTIONS_MAX,
            CONNECTIONS_MAX,
            THREAD_IDLE_S,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            work -> {
              Thread thread = new Thread(work, "erda-metrics");
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
    http.setExecutor(threads);
    http.createContext("/", exchange -> answer(exchange, source));
    http.start();
    return new MetricsEndpoint(http, threads);
  }

  /** The JDK's server takes its limits from these, once; what somebody has set stays. */
  private static void limit() {
    limit("jdk.httpserver.maxConnections", CONNECTIONS_MAX);
    limit("sun.net.httpserver.maxReqTime", 5);
    limit("sun.net.httpserver.maxRspTime", 5);
    limit("sun.net.httpserver.idleInterval", 30);
    limit("sun.net.httpserver.maxIdleConnections", CONNECTIONS_MAX);
    limit("sun.net.httpserver.maxReqHeaderSize", 16 << 10);
  }

  private static void limit(String name, int value) {
    if (System.getProperty(name) == null) {
      System.setProperty(name, Integer.toString(value));
    }
  }

  /**
   * The address that {@code HOST:PORT}, {@code :PORT} or {@code PORT} names; without a host, that
   * of loopback.
   *
   * @throws IllegalArgumentException when it names none
   */
  public static InetSocketAddress address(String text) {
    int colon = text.lastIndexOf(':');
    String host = colon < 0 ? "" : text.substring(0, colon);
    int port;
    try {
      port = Integer.parseInt(text.substring(colon + 1));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("not HOST:PORT or PORT: " + text);
    }
    if (port < 0 || port > 0xFFFF) {
      throw new IllegalArgumentException("no port: " + port);
    }
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    InetSocketAddress address =
        host.isEmpty()
            ? new InetSocketAddress(InetAddress.getLoopbackAddress(), port)
            : new InetSocketAddress(host, port);
    if (address.isUnresolved()) {
      throw new IllegalArgumentException("no such host: " + host);
    }
    return address;
  }

  /** What a scraper is told to ask for. */
  public String url() {
    InetSocketAddress address = http.getAddress();
    String host = address.getAddress().getHostAddress();
    return "http://%s:%d%s"
        .formatted(host.contains(":") ? "[" + host + "]" : host, address.getPort(), PATH);
  }

  private static void answer(HttpExchange exchange, Source source) throws IOException {
    try (exchange) {
      if (!exchange.getRequestURI().getPath().equals(PATH)) {
        say(exchange, 404, "text/plain; charset=utf-8", "The figures are at " + PATH + "\n");
        return;
      }
      String method = exchange.getRequestMethod();
      if (!method.equals("GET") && !method.equals("HEAD")) {
        exchange.getResponseHeaders().set("Allow", "GET, HEAD");
        say(exchange, 405, "text/plain; charset=utf-8", "GET and HEAD are what there is\n");
        return;
      }
      try {
        say(exchange, 200, OpenMetrics.CONTENT_TYPE, OpenMetrics.text(source.figures()));
      } catch (ErdaException e) {
        say(exchange, 503, "text/plain; charset=utf-8", e.getMessage() + "\n");
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void say(HttpExchange exchange, int status, String type, String text)
      throws IOException {
    byte[] body = text.getBytes(UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type);
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.getResponseHeaders().set("Content-Length", Integer.toString(body.length));
      exchange.sendResponseHeaders(status, -1);
      return;
    }
    exchange.sendResponseHeaders(status, body.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(body);
    }
  }

  @Override
  public void close() {
    http.stop(0);
    threads.shutdownNow();
  }
}
