package io.erda.eval.memcached;

import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.ProcessException;
import io.erda.eval.process.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A memcached server on a Unix socket, with the default configuration except for the socket, the
 * memory limit, and the number of threads. Owned by the {@link Children} it was started with.
 */
public final class MemcachedServer {
  private static final Duration START_TIMEOUT = Duration.ofMinutes(1);

  /** The number of threads that memcached has by default. */
  public static final int DEFAULT_THREADS = 4;

  private final Children children;
  private final Child child;
  private final Path socket;

  private MemcachedServer(Children children, Child child, Path socket) {
    this.children = children;
    this.child = child;
    this.socket = socket;
  }

  /**
   * Starts a server.
   *
   * @param directory of its socket
   * @param bytesMax of memory; further objects would evict others
   * @param threads that serve its clients
   */
  public static MemcachedServer start(
      Children children, Path directory, long bytesMax, int threads) {
    Path server = Programs.require("memcached");
    Path socket = directory.resolve("memcached.sock");
    try {
      Files.deleteIfExists(socket); // left by a killed server
    } catch (IOException e) {
      throw new ProcessException("can't remove " + socket + ": " + e.getMessage(), e);
    }
    Child child =
        children.start(
            "memcached",
            List.of(
                server.toString(),
                "-s",
                socket.toString(),
                "-m",
                Long.toString((bytesMax >> 20) + 1),
                "-t",
                Integer.toString(threads),
                "-u",
                System.getProperty("user.name")));
    child.awaitThat("listen at " + socket, () -> isReady(socket), START_TIMEOUT);
    return new MemcachedServer(children, child, socket);
  }

  private static boolean isReady(Path socket) {
    if (!Files.exists(socket)) {
      return false;
    }
    try (MemcachedClient _ = MemcachedClient.connect(socket, 0, 0, 1)) {
      return true;
    } catch (ProcessException e) {
      return false; // bound, but not listening yet
    }
  }

  public Path socket() {
    return socket;
  }

  /** Kills it, as {@code kill -9} does. */
  public void kill() {
    child.kill();
    children.forget(child);
  }
}
