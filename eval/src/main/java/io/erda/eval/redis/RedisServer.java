package io.erda.eval.redis;

import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A Redis server on a Unix socket, or on a port of loopback besides, that keeps nothing on disk.
 * Owned by the {@link Children} it was started with.
 */
public final class RedisServer implements AutoCloseable {
  private static final Duration START_TIMEOUT = Duration.ofSeconds(20);

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

  /** A program of the Redis package on this machine. */
  public static Optional<Path> program(String name) {
    return Arrays.stream(System.getenv().getOrDefault("PATH", "/usr/bin").split(":"))
        .filter(directory -> !directory.isEmpty())
        .map(directory -> Path.of(directory, name))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /**
   * Starts one in {@code directory}, with its default configuration but for the socket and
   * persistence, which is off.
   */
  public static RedisServer start(Children children, Path directory) {
    return start(children, directory, 0);
  }

  /** The same, which listens at a port of loopback besides, one that nobody has now. */
  public static RedisServer startTcp(Children children, Path directory) {
    return start(children, directory, freePort());
  }

  private static int freePort() {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    } catch (IOException e) {
      throw new RedisException("no port of loopback is free: " + e.getMessage(), e);
    }
  }

  private static RedisServer start(Children children, Path directory, int port) {
    Path server =
        program("redis-server")
            .orElseThrow(
                () -> new RedisException("redis-server is not here: apt-get install redis-server"));
    Path socket = directory.resolve("redis.sock");
    Child child =
        children.start(
            "redis-server",
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
                "no",
                "--daemonize",
                "no"));
    awaitSocket(child, socket);
    return new RedisServer(children, child, socket, port);
  }

  private static void awaitSocket(Child child, Path socket) {
    long endNs = System.nanoTime() + START_TIMEOUT.toNanos();
    while (!Files.exists(socket)) {
      child.poll(Duration.ofMillis(20)); // throws when it has ended
      if (System.nanoTime() > endNs) {
        throw new RedisException("redis-server does not listen at " + socket);
      }
    }
  }

  public Path socket() {
    return socket;
  }

  /** Where it listens by TCP. REQUIRES: {@link #startTcp}. */
  public InetSocketAddress address() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  @Override
  public void close() {
    child.end();
    children.forget(child);
  }
}
