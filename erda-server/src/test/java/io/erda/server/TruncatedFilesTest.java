package io.erda.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A user who may write a file that a server has mapped may also shorten it, and the server's next
 * load or store there is a SIGBUS. A client that does so to its own queue file ends its own
 * connection; a region's file that was shortened makes the store read-only, with the file named. In
 * processes of their own: what a signal does, no simulation knows.
 */
@Tag("long")
class TruncatedFilesTest {
  private static final byte[] VALUE = new byte[1000];

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(strings = {"-Xint", "-XX:TieredStopAtLevel=1", "-XX:+TieredCompilation"})
  void aClientThatTruncatesItsQueueFileEndsAlone(String mode) throws Exception {
    try (ServedElsewhere server = ServedElsewhere.start(directory.resolve("data"), mode);
        ErdaClient other = server.connect()) {
      warmUp(other, mode);
      for (int round = 0; round < 24; round++) {
        truncateOwnQueue(server, round % 3 == 0 ? 0 : round % 3 == 1 ? 4096 : 1 << 16, round);
        byte[] key = ("other " + round).getBytes(UTF_8);
        other.put(key, VALUE);
        assertArrayEquals(VALUE, other.get(key), server::output);
        assertTrue(server.isServing(), server::output);
      }
      awaitConnections(other, 1);
    }
  }

  /** Enough for the server's code to be compiled, where it is. */
  private static void warmUp(ErdaClient client, String mode) {
    for (int i = 0; i < (mode.equals("-Xint") ? 100 : 20_000); i++) {
      client.put(("key " + i % 100).getBytes(UTF_8), VALUE);
    }
  }

  private void truncateOwnQueue(ServedElsewhere server, long length, int round) throws Exception {
    Set<Path> before = queues(server);
    ErdaClient mine = server.connect();
    Set<Path> added = new HashSet<>(queues(server));
    added.removeAll(before);
    assertEquals(1, added.size(), "one more queue file");
    boolean busy = round % 2 == 1;
    AtomicReference<Throwable> end = new AtomicReference<>();
    AtomicBoolean truncated = new AtomicBoolean();
    Thread thread = null;
    if (busy) {
      thread =
          Thread.ofPlatform()
              .daemon()
              .start(() -> {
                try {
                  for (int i = 0; !truncated.get(); i++) {
                    mine.put(("truncating " + i % 10).getBytes(UTF_8), VALUE);
                  }
                } catch (ErdaException e) {
                  // The exception must be one of those that a caller knows.
                } catch (Throwable e) {
                  end.set(e);
                }
              });
      Thread.sleep(5);
    } else {
      mine.put("truncating".getBytes(UTF_8), VALUE);
      mine.handOver();
    }
    truncate(added.iterator().next(), length);
    Thread.sleep(20);
    truncated.set(true);
    if (thread != null) {
      thread.join(20_000);
      assertTrue(!thread.isAlive(), "the client that truncated hangs");
      mine.handOver();
    }
    assertNull(end.get());
    goesOn(mine);
    mine.close();
  }

  /** The client connects anew, at the latest for the operation after the one that fails. */
  private static void goesOn(ErdaClient client) {
    byte[] key = "truncated".getBytes(UTF_8);
    try {
      client.put(key, VALUE);
    } catch (ErdaException.OutcomeUnknown | ErdaException.Unavailable e) {
      assertTrue(e.getMessage().contains("put of"), e.getMessage());
    }
    client.put(key, VALUE);
    assertArrayEquals(VALUE, client.get(key));
  }

  private static void awaitConnections(ErdaClient client, long count) throws Exception {
    long untilNs = System.nanoTime() + 10_000_000_000L;
    while (client.stats().get("connections") != count) {
      assertTrue(System.nanoTime() - untilNs < 0, "connections: " + client.stats());
      Thread.sleep(10);
    }
  }

  private static Set<Path> queues(ServedElsewhere server) throws IOException {
    try (Stream<Path> files = Files.list(server.data().resolve("shm"))) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("queue-"))
          .collect(Collectors.toSet());
    }
  }

  private static void truncate(Path file, long length) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(length);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"-Xint", "-XX:TieredStopAtLevel=1", "-XX:+TieredCompilation"})
  void aTruncatedRegionMakesTheStoreReadOnlyAndIsNamed(String mode) throws Exception {
    try (ServedElsewhere server = ServedElsewhere.start(directory.resolve("data"), mode);
        ErdaClient client = server.connect();
        ErdaClient other = server.connect()) {
      warmUp(client, mode);
      for (int i = 0; i < 3000; i++) {
        client.put(("old " + i).getBytes(UTF_8), VALUE);
      }
      byte[] recent = "recent".getBytes(UTF_8);
      client.put(recent, VALUE);
      List<Path> shortened = new ArrayList<>();
      for (Path file : regionsWithoutTheNewest(server.data(), "recent")) {
        try {
          truncate(file, 4096);
          shortened.add(file);
        } catch (NoSuchFileException e) {
          // The region was cleaned since the files were listed.
        }
      }
      assertTrue(!shortened.isEmpty(), "no region is old");
      ErdaException first = null;
      for (int i = 0; first == null; i++) {
        try {
          client.put(("old " + i).getBytes(UTF_8), VALUE);
        } catch (ErdaException e) {
          first = e;
        }
      }
      String message = first.getMessage();
      assertTrue(
          shortened.stream().anyMatch(file -> message.contains(file.getFileName().toString())),
          message);
      assertTrue(message.contains("was shortened while it was in use: it has 4096 of"), message);
      for (ErdaClient each : List.of(client, other)) {
        ErdaException.ReadOnly refused =
            assertThrows(ErdaException.ReadOnly.class, () -> each.put(recent, VALUE));
        assertTrue(refused.getMessage().contains("was shortened"), refused.getMessage());
        assertThrows(ErdaException.ReadOnly.class, () -> each.delete(recent));
        assertArrayEquals(VALUE, each.get(recent), "what lies elsewhere is read on");
      }
      assertEquals(1, other.stats().get("store.readonly"));
      assertTrue(
          other.stats().keySet().stream()
              .anyMatch(name -> name.startsWith("store.readonly.reason=") && name.contains("4096")),
          () -> other.stats().toString());
      assertTrue(server.isServing(), server::output);
      server.awaitOutput("read-only: ");
    }
  }

  /**
   * Not where heads append: there the client's own store would meet the end of the file. Nor where
   * a key lies that is read later: the newest regions may be linked ahead, or for the cleaner.
   */
  private static List<Path> regionsWithoutTheNewest(Path data, String key) throws IOException {
    try (Stream<Path> files = Files.list(data)) {
      List<Path> regions =
          files
              .filter(file -> file.getFileName().toString().matches("region-[0-9]+-[0-9]+"))
              .sorted(Comparator.comparingInt(TruncatedFilesTest::generation))
              .toList();
      return regions.subList(0, regions.size() - 2).stream()
          .filter(region -> !contains(region, key))
          .toList();
    }
  }

  private static boolean contains(Path file, String text) {
    try {
      return new String(Files.readAllBytes(file), ISO_8859_1).contains(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int generation(Path region) {
    String name = region.getFileName().toString();
    return Integer.parseInt(name.substring(name.lastIndexOf('-') + 1));
  }
}
