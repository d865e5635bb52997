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
import java.util.List;

/**
 * A Redis server on a Unix socket, or on a port of loopback besides, that keeps nothing on disk
 * unless it is told to. Owned by the {@link Children} it was started with.
 */
public final class RedisServer implements AutoCloseable {
  private static final Duration START_TIMEOUT = Duration.ofMinutes(1);

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
   * Starts one in {@code directory}, with its default configuration but for the socket and
   * persistence, which is off.
   */
  public static RedisServer start(Children children, Path directory) {
    return start(children, directory, false, false);
  }

  /** The same, which listens at a port of loopback besides, one that nobody has now. */
  public static RedisServer startTcp(Children children, Path directory) {
    return start(children, directory, true, false);
  }

  /**
   * The same.
   *
   * @param tcp whether it listens at a port of loopback besides
   * @param appendOnly whether it appends what is set to a file in {@code directory}, which it syncs
   *     every second; what is in such a file it has read when this returns
   */
  public static RedisServer start(
      Children children, Path directory, boolean tcp, boolean appendOnly) {
    Path server = Programs.require("redis-server");
    Path socket = directory.resolve("redis.sock");
    int port = tcp ? freePort() : 0;
    try {
      Files.deleteIfExists(socket); // of one that was killed
    } catch (IOException e) {
      throw new ProcessException("can't remove " + socket + ": " + e.getMessage(), e);
    }
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
                appendOnly ? "yes" : "no",
                "--appendfsync",
                "everysec",
                "--daemonize",
                "no"));
    child.awaitThat("listen at " + socket, () -> isReady(socket), START_TIMEOUT);
    return new RedisServer(children, child, socket, port);
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
      return false; // bound, and does not listen yet
    }
  }

  public Path socket() {
    return socket;
  }

  /** Where it listens by TCP. REQUIRES: {@link #startTcp}. */
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
