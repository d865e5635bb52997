package io.erda.launcher.watch;

import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Answers {@code GET /metrics} with a server's figures as OpenMetrics text if that is requested,
 * else in the older format of Prometheus, and {@code GET /} with a page that shows them in a
 * browser, one request a connection. Each connection has its own thread, so that a slow peer does
 * not delay others. When all connections are taken the oldest one without a request is closed for a
 * new one, and each is cut off after some seconds. It needs the server's thread only for the
 * figures, which concurrent requests share.
 */
public final class MetricsEndpoint implements AutoCloseable {
  /** The source of the figures. */
  @FunctionalInterface
  public interface Source {
    /**
     * All figures by name.
     *
     * @throws ErdaException when there are none now
     */
    Map<String, Long> figures() throws InterruptedException;
  }

  static final int CONNECTIONS_MAX = 16;
  private static final String PATH = "/metrics";
  private static final int BACKLOG = 64;
  private static final long CONNECTION_NS_MAX = 10_000_000_000L;
  private static final long NO_DESCRIPTOR_PAUSE_NS = 100_000_000;
  private static final long THREAD_IDLE_S = 10;

  private final ServerSocket socket;
  private final long connectionNsMax;
  private final ExecutorService threads;

  /** The open connections, the oldest first. Guarded by this. */
  private final List<MetricsConnection> connections = new ArrayList<>();

  private MetricsEndpoint(ServerSocket socket, long connectionNsMax) {
    this.socket = socket;
    this.connectionNsMax = connectionNsMax;
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            CONNECTIONS_MAX,
            CONNECTIONS_MAX,
            THREAD_IDLE_S,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            MetricsEndpoint::daemon);
    pool.allowCoreThreadTimeOut(true);
    this.threads = pool;
  }

  /**
   * Takes an address. Connections wait until {@link #serve}.
   *
   * @throws IOException when the address can't be taken
   */
  public static MetricsEndpoint bind(InetSocketAddress address) throws IOException {
    return bind(address, CONNECTION_NS_MAX);
  }

  /**
   * @param connectionNsMax when a connection is cut off
   */
  static MetricsEndpoint bind(InetSocketAddress address, long connectionNsMax) throws IOException {
    ServerSocket socket = new ServerSocket();
    try {
      socket.bind(address, BACKLOG);
    } catch (IOException | RuntimeException e) {
      socket.close();
      throw e;
    }
    return new MetricsEndpoint(socket, connectionNsMax);
  }

  /**
   * Begins to answer. Called once.
   *
   * @param onFailure is told of an error that ends one of the endpoint's threads, by that thread
   */
  public void serve(Source source, Consumer<Throwable> onFailure) {
    daemon(
            () -> {
              try {
                accept(source, onFailure);
              } catch (Throwable e) {
                onFailure.accept(e);
              }
            })
        .start();
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "erda-metrics");
    thread.setDaemon(true);
    return thread;
  }

  /**
   * The address of {@code HOST:PORT}, {@code :PORT} or {@code PORT}; without a host, loopback.
   *
   * @throws IllegalArgumentException when the text is no such address
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

  /** The URL for a scraper. */
  public String url() {
    String host = socket.getInetAddress().getHostAddress();
    String shown = host.contains(":") ? "[" + host + "]" : host;
    return "http://" + shown + ":" + socket.getLocalPort() + PATH;
  }

  private void accept(Source source, Consumer<Throwable> onFailure) {
    while (!socket.isClosed()) {
      try {
        socket.setSoTimeout(cutOffLateOnes());
        admit(socket.accept(), source, onFailure);
      } catch (SocketTimeoutException e) {
        // It is time to cut a connection off.
      } catch (IOException e) {
        // The endpoint is closed, or the process has no free descriptor now.
        LockSupport.parkNanos(NO_DESCRIPTOR_PAUSE_NS);
      }
    }
  }

  /**
   * Cuts off late connections. Returns the milliseconds until the next one is late; 0 when there is
   * none.
   */
  private synchronized int cutOffLateOnes() {
    long nowNs = System.nanoTime();
    while (!connections.isEmpty() && connections.getFirst().endNs() - nowNs <= 0) {
      connections.removeFirst().close();
    }
    return connections.isEmpty()
        ? 0
        : (int) TimeUnit.NANOSECONDS.toMillis(connections.getFirst().endNs() - nowNs) + 1;
  }

  private synchronized void admit(Socket accepted, Source source, Consumer<Throwable> onFailure) {
    if (connections.size() >= CONNECTIONS_MAX && !makeRoom() || threads.isShutdown()) {
      MetricsConnection.close(accepted);
      return;
    }
    MetricsConnection connection =
        new MetricsConnection(accepted, PATH, source, System.nanoTime() + connectionNsMax);
    connections.add(connection);
    try {
      threads.execute(() -> {
        try {
          connection.run();
        } catch (Throwable e) {
          onFailure.accept(e);
        } finally {
          remove(connection);
        }
      });
    } catch (OutOfMemoryError e) {
      // The process may have no more threads now: this request goes unanswered.
      connection.close();
      remove(connection);
    }
  }

  /** Closes the oldest connection without a request. Returns whether there was one. */
  private synchronized boolean makeRoom() {
    for (MetricsConnection each : connections) {
      if (!each.answers()) {
        each.close();
        connections.remove(each);
        return true;
      }
    }
    return false;
  }

  private synchronized void remove(MetricsConnection connection) {
    connections.remove(connection);
  }

  @Override
  public synchronized void close() {
    try {
      socket.close();
    } catch (IOException e) {
      // The connection is closed in any case.
    }
    connections.forEach(MetricsConnection::close);
    connections.clear();
    threads.shutdownNow();
  }
}
