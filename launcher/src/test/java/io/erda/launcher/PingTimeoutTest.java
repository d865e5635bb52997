package io.erda.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.server.ErdaServer;
import io.erda.server.Listening;
import io.erda.server.ServerOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The time of {@code erda ping} is one for connecting and being answered together. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PingTimeoutTest {
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 18)
          .withCapacityBytes(2 << 20)
          .withBuckets(256)
          .withListening(List.of(new Listening("erda", "127.0.0.1:0", Map.of())));

  /** A server sends fewer bytes when a client connects, and more with all its figures. */
  private static final long CONNECT_BYTES_MAX = 1_000;

  private static final long CONNECT_NS = 1_200_000_000;
  private static final long ANSWER_NS = 2_400_000_000L;

  @TempDir Path directory;

  /**
   * Stands between one client and a server, which is slow: its first byte comes late, and the
   * answer, of which there are thousands of bytes, comes later.
   */
  private static final class SlowWay implements AutoCloseable {
    private final ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());

    SlowWay(int serverPort) throws IOException {
      Thread.ofPlatform()
          .daemon()
          .start(() -> {
            try (Socket client = socket.accept();
                Socket server = new Socket("127.0.0.1", serverPort)) {
              long begunNs = System.nanoTime();
              Thread there = Thread.ofPlatform().daemon().start(() -> copyThere(client, server));
              copyBack(server, client, begunNs);
              client.shutdownOutput();
              there.join();
            } catch (IOException | InterruptedException e) {
              // The client has left, as it may.
            }
          });
    }

    String uri() {
      return "erda://127.0.0.1:" + socket.getLocalPort();
    }

    private static void copyThere(Socket client, Socket server) {
      try {
        client.getInputStream().transferTo(server.getOutputStream());
        server.shutdownOutput();
      } catch (IOException e) {
        // One of them has left.
      }
    }

    private void copyBack(Socket server, Socket client, long begunNs)
        throws IOException, InterruptedException {
      InputStream in = server.getInputStream();
      OutputStream out = client.getOutputStream();
      long bytes = 0;
      for (int next = in.read(); next >= 0; next = in.read()) {
        long lateNs = bytes++ < CONNECT_BYTES_MAX ? CONNECT_NS : ANSWER_NS;
        while (System.nanoTime() - begunNs < lateNs) {
          Thread.sleep(1);
        }
        out.write(next);
      }
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  @Test
  void connectingTakesOfTheTimeForTheAnswer() throws Exception {
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), SMALL)) {
      int port = URI.create(server.uris().get(1)).getPort();
      try (SlowWay way = new SlowWay(port)) {
        // The answer would be in time if the time-out began after connecting.
        assertEquals(1, run("ping", "--timeout", "2", "--uri", way.uri()));
      }
    }
  }

  private static int run(String... args) {
    PrintWriter nowhere = new PrintWriter(new StringWriter());
    return Main.run(nowhere, nowhere, false, args);
  }
}
