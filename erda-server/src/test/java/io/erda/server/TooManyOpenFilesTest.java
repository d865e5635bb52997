package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server under {@code ulimit -n} whose connections take every file descriptor that it may have.
 * Requests that need a new file, for a region or a larger table, have to wait until connections
 * end; all others go on.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class TooManyOpenFilesTest {
  private static final int FILES_MAX = 160;
  private static final byte[] VALUE = new byte[1000];

  /** The table has doubled once then, and is about to do so again. */
  private static final int KEYS_BEFORE = 8000;

  private static final int KEYS_MAX = 30_000;

  @TempDir private Path directory;

  private int keys;

  private static byte[] key(int i) {
    return ("key " + i).getBytes(UTF_8);
  }

  @Test
  void whatNeedsAFileWaitsAndGoesOn() throws Exception {
    List<SocketChannel> silent = new ArrayList<>();
    try (ServedElsewhere server =
            ServedElsewhere.startLimited(directory.resolve("data"), FILES_MAX);
        ErdaClient client = server.connect()) {
      while (keys < KEYS_BEFORE) {
        client.put(key(keys++), VALUE);
      }
      takeAllFiles(server, silent);
      // The first ones: what they need of the JDK was loaded before.
      assertEquals(1, client.stats().get("table.doublings"));
      client.clean(-1);
      String refused = putUntilRefused(client);
      assertTrue(refused.contains("oo many open files"), refused);
      assertEquals(1, client.stats().get("table.doublings"), "the table waits too");
      assertEquals(0, client.stats().get("store.readonly"), refused);
      // Whether there is room for an object depends on which head was refused a region.
      assertArrayEquals(VALUE, client.get(key(0)));
      // Found by a review: the server logged nothing, and clients reported that it does not answer.
      server.awaitOutput("log: no client can connect in ");
      server.awaitOutput("log: no file can be made for the log");
      for (SocketChannel each : silent) {
        each.close();
      }
      goesOn(client);
      assertEquals(0, client.stats().get("store.readonly"));
      awaitDoubling(client);
      for (int i = 0; i < keys; i++) {
        assertArrayEquals(VALUE, client.get(key(i)));
      }
      assertTrue(server.isServing(), server::output);
    } finally {
      for (SocketChannel each : silent) {
        each.close();
      }
    }
  }

  /** Peers that connect and say nothing: the server waits some seconds for each. */
  private static void takeAllFiles(ServedElsewhere server, List<SocketChannel> silent)
      throws IOException {
    UnixDomainSocketAddress address =
        UnixDomainSocketAddress.of(server.data().resolve("shm/socket"));
    for (int i = 0; i < FILES_MAX; i++) {
      silent.add(SocketChannel.open(address));
    }
    long untilNs = System.nanoTime() + 10_000_000_000L;
    while (openFiles(server) < FILES_MAX) {
      assertTrue(System.nanoTime() - untilNs < 0, openFiles(server) + " files");
      Thread.onSpinWait();
    }
  }

  private static long openFiles(ServedElsewhere server) throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/proc/" + server.pid() + "/fd"))) {
      return all.count();
    }
  }

  private String putUntilRefused(ErdaClient client) {
    try {
      while (keys < KEYS_MAX) {
        client.put(key(keys), VALUE);
        keys++;
      }
    } catch (ErdaException.Unavailable | ErdaException.Full e) {
      return e.toString();
    }
    return "nothing was refused";
  }

  private void goesOn(ErdaClient client) throws InterruptedException {
    long untilNs = System.nanoTime() + 20_000_000_000L;
    int last = keys + 3000;
    while (keys < last) {
      try {
        client.put(key(keys), VALUE);
        keys++;
      } catch (ErdaException.Unavailable | ErdaException.Full e) {
        assertTrue(System.nanoTime() - untilNs < 0, e.toString());
        Thread.sleep(20);
      }
    }
  }

  /** It is tried again each second. */
  private static void awaitDoubling(ErdaClient client) throws InterruptedException {
    long untilNs = System.nanoTime() + 20_000_000_000L;
    while (client.stats().get("table.doublings") < 2) {
      assertTrue(System.nanoTime() - untilNs < 0, client.stats().toString());
      Thread.sleep(20);
    }
  }
}
