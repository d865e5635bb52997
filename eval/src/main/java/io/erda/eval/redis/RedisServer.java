package io.erda.eval.redis;

import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.ProcessException;
import io.erda.eval.process.Programs;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A Redis server on a Unix socket, and optionally on a port of loopback, without persistence by
 * default. Owned by the {@link Children} it was started with.
 */
public final class RedisServer implements AutoCloseable {
  private static final Duration START_TIMEOUT = Duration.ofMinutes(1);

  /** Redis refuses more. */
  private static final int IO_THREADS_MAX = 128;

  private final Children children;
  private final Child child;
  private final Path socket;
  private final int port;

  private RedisServer(Children children, Child child, Path socket, int port) {
    this.children = children;
    this.child = child;
    this.socket = socket;
    this.port = port;
  }

  /**
   * Starts a server in {@code directory}, with the default configuration except for the socket, and
   * without persistence.
   */
  public static RedisServer start(Children children, Path directory) {
    return start(children, directory, false, false);
  }

  /** Starts a server that also listens on an unused port of loopback. */
  public static RedisServer startTcp(Children children, Path directory) {
    return start(children, directory, true, false);
  }

  /**
   * Starts a server.
   *
   * @param tcp whether it also listens on a port of loopback
   * @param appendOnly whether it appends changes to a file in {@code directory}, which it syncs
   *     every second; it has loaded such a file when this returns
   */
  public static RedisServer start(
      Children children, Path directory, boolean tcp, boolean appendOnly) {
    return start(children, directory, tcp, appendOnly, 1);
  }

  /**
   * Starts a server.
   *
   * @param ioThreads that read and write its sockets; Redis before 6.0 has one
   */
  public static RedisServer start(
      Children children, Path directory, boolean tcp, boolean appendOnly, int ioThreads) {
    Path server = Programs.require("redis-server");
    Path socket = directory.resolve("redis.sock");
    int port = tcp ? freePort() : 0;
    try {
      Files.deleteIfExists(socket); // left by a killed server
    } catch (IOException e) {
      throw new ProcessException("can't remove " + socket + ": " + e.getMessage(), e);
    }
    List<String> command =
        new ArrayList<>(
            List.of(
                server.toString(),
                "--port",
                Integer.toString(port),
                "--bind",
                "127.0.0.1",
                "--unixsocket",
                socket.toString(),
                "--dir",
                directory.toString(),
                "--save",
                "",
                "--appendonly",
                appendOnly ? "yes" : "no",
                "--appendfsync",
                "everysec",
                "--daemonize",
                "no"));
    if (ioThreads > 1 && hasIoThreads(server)) {
      command.addAll(
          List.of("--io-threads", Integer.toString(Math.min(ioThreads, IO_THREADS_MAX))));
    }
    Child child = children.start("redis-server", command);
    child.awaitThat("listen at " + socket, () -> isReady(socket), START_TIMEOUT);
    return new RedisServer(children, child, socket, port);
  }

  private static boolean hasIoThreads(Path server) {
    return Programs.version(server)
        .map(version -> Integer.parseInt(version.split("\\.", 2)[0]) >= 6)
        .orElse(false);
  }

  private static int freePort() {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    } catch (IOException e) {
      throw new ProcessException("no port of loopback is free: " + e.getMessage(), e);
    }
  }

  private static boolean isReady(Path socket) {
    if (!Files.exists(socket)) {
      return false;
    }
    try (RedisClient client = RedisClient.connect(socket, 0, 0)) {
      return client.isReady();
    } catch (ProcessException e) {
      return false; // bound, but not listening yet
    }
  }

  public Path socket() {
    return socket;
  }

  /** Its TCP address. REQUIRES: {@link #startTcp}. */
  public InetSocketAddress address() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  /** Kills it, as {@code kill -9} does. */
  public void kill() {
    child.kill();
    children.forget(child);
  }

  @Override
  public void close() {
    child.end();
    children.forget(child);
  }
}
