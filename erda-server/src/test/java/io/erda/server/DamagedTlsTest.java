package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.rdma.testing.Certificates;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A bit that is flipped on its way while a client and a server agree on TLS. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class DamagedTlsTest {
  /** Type, version and length of a record, type, length and version of its message. */
  private static final int BYTES = 11;

  /** The bytes of the two lengths. */
  private static final Set<Integer> LENGTHS = Set.of(3, 4, 6, 7, 8);

  private static final byte[] KEY = "key".getBytes(StandardCharsets.UTF_8);

  @TempDir private Path directory;

  /** Passes the bytes of connections on, and flips one bit of the first of them. */
  private static final class FlippingOnce implements AutoCloseable {
    private final ServerSocket listening =
        new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final int port;
    private final boolean toServer;
    private int bit;

    /**
     * @param bit the number of the bit among all that go in that direction
     */
    FlippingOnce(int port, boolean toServer, int bit) throws IOException {
      this.port = port;
      this.toServer = toServer;
      this.bit = bit;
      Thread.ofPlatform().daemon().start(this::accept);
    }

    private void accept() {
      try {
        while (true) {
          Socket client = listening.accept();
          Socket server = new Socket(InetAddress.getLoopbackAddress(), port);
          int flipped = bit;
          bit = -1;
          Thread.ofPlatform().daemon().start(() -> pass(client, server, toServer ? flipped : -1));
          Thread.ofPlatform().daemon().start(() -> pass(server, client, toServer ? -1 : flipped));
        }
      } catch (IOException e) {
        // The test is over.
      }
    }

    private static void pass(Socket from, Socket to, int bit) {
      byte[] bytes = new byte[1 << 12];
      long passed = 0;
      try (from;
          to) {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        for (int read = in.read(bytes); read > 0; read = in.read(bytes)) {
          long at = bit / 8 - passed;
          if (bit >= 0 && at >= 0 && at < read) {
            bytes[(int) at] ^= (byte) (1 << bit % 8);
          }
          out.write(bytes, 0, read);
          passed += read;
        }
      } catch (IOException e) {
        // One end has left; the other one hears of it.
      }
    }

    @Override
    public void close() throws IOException {
      listening.close();
    }
  }

  private ErdaServer start(Map<String, String> options) {
    return ErdaServer.start(
        directory.resolve("data"),
        ServerOptions.DEFAULTS
            .withCapacityBytes(64 << 20)
            .withRegionBytes(4 << 20)
            .withBuckets(1 << 12)
            .withListening(List.of(new Listening("erda", "127.0.0.1:0", options))));
  }

  private static int port(ErdaServer server) {
    String uri = server.uris().get(1);
    return Integer.parseInt(uri.substring(uri.lastIndexOf(':') + 1));
  }

  /** Found by a stranger: the client was told that the server has no TLS, which was final. */
  @Test
  void aFlippedBitOfTheFirstRecordsRefusesNobody() throws Exception {
    Certificates made = Certificates.make(directory, "server", "ip:127.0.0.1");
    Map<String, String> options =
        Map.of("tls-cert", made.certificate().toString(), "tls-key", made.key().toString());
    try (ErdaServer server = start(options)) {
      for (int bit = 0; bit < 8 * BYTES; bit += 3) {
        if (LENGTHS.contains(bit / 8)) {
          // Where a length is too large, both ends wait for the rest until the time is over.
          continue;
        }
        for (boolean toServer : new boolean[] {false, true}) {
          try (FlippingOnce way = new FlippingOnce(port(server), toServer, bit);
              ErdaClient client =
                  ErdaClient.connect(
                      "erda://127.0.0.1:%d?tls-ca=%s"
                          .formatted(way.listening.getLocalPort(), made.certificate()))) {
            client.put(KEY, KEY);
            assertArrayEquals(KEY, client.get(KEY), "bit " + bit);
          }
        }
      }
    }
  }

  @Test
  void aServerWithoutTlsIsStillNamed() throws Exception {
    Certificates made = Certificates.make(directory, "server", "ip:127.0.0.1");
    try (ErdaServer server = start(Map.of())) {
      String uri = server.uris().get(1) + "?tls-ca=" + made.certificate();
      ErdaException.Refused e =
          assertThrows(ErdaException.Refused.class, () -> ErdaClient.connect(uri).close());
      assertTrue(e.getMessage().contains("the server has no TLS"), e.getMessage());
    }
  }
}
