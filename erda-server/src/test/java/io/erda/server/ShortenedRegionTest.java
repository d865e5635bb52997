package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files of a store's regions were shortened. A client that reads a missing part gets a typed error
 * that names the file, and can still be used; a store with such a file does not open, and names it.
 */
class ShortenedRegionTest {
  private static final byte[] VALUE = new byte[1000];
  private static final int KEYS = 3000;
  private static final int PAGE = 4096;

  @TempDir Path directory;

  private static byte[] key(int i) {
    return ("key " + i).getBytes(UTF_8);
  }

  private static void fill(ErdaClient client) {
    for (int i = 0; i < KEYS; i++) {
      client.put(key(i), VALUE);
      assertArrayEquals(VALUE, client.get(key(i)));
    }
  }

  private static List<Path> regions(Path data) throws IOException {
    try (Stream<Path> files = Files.list(data)) {
      return files
          .filter(file -> file.getFileName().toString().matches("region-[0-9]+-[0-9]+"))
          .sorted()
          .toList();
    }
  }

  private static void truncate(Path file, long length) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(length);
    }
  }

  private static void requireNamed(ErdaException e, List<Path> files) {
    String message = e.getMessage();
    assertTrue(
        files.stream().anyMatch(file -> message.contains(file.getFileName().toString()))
            && message.contains("was shortened while it was in use: it has 4096 of 1048576 bytes"),
        message);
  }

  /** Reads all keys. Returns the number of keys that were reported as damaged. */
  private static int readAll(ErdaClient client, List<Path> shortened) {
    int damaged = 0;
    for (int i = 0; i < KEYS; i++) {
      try {
        assertArrayEquals(VALUE, client.get(key(i)));
      } catch (ErdaException.Damaged e) {
        requireNamed(e, shortened);
        damaged++;
      }
    }
    return damaged;
  }

  private static void isToldAndUsedOn(ErdaClient client, Path data) throws IOException {
    List<Path> all = regions(data);
    assertTrue(all.size() > 2, () -> all.toString());
    truncate(all.getFirst(), PAGE);
    int first = readAll(client, all.subList(0, 1));
    assertTrue(first > 0 && first < KEYS, "damaged: " + first);
    assertEquals(first, readAll(client, all.subList(0, 1)), "nothing else suffers");
    for (Path each : all) {
      truncate(each, PAGE);
    }
    // Its own store meets the end of the file; then the server finds it, in the middle of this put.
    requireNamed(assertThrows(ErdaException.class, () -> client.put(key(1), VALUE)), all);
    assertTrue(readAll(client, all) > first);
    requireNamed(assertThrows(ErdaException.ReadOnly.class, () -> client.put(key(1), VALUE)), all);
    assertEquals(1, client.stats().get("store.readonly"));
  }

  @Test
  void aClientOfAnotherProcessIsToldAndUsedOn() throws Exception {
    try (ServedElsewhere server = ServedElsewhere.start(directory.resolve("data"));
        ErdaClient client = server.connect()) {
      fill(client);
      isToldAndUsedOn(client, server.data());
      assertEquals(1, client.statistics().connections());
      try (ErdaClient late = server.connect()) {
        assertTrue(readAll(late, regions(server.data())) > 0, "and who comes later");
      }
      assertTrue(server.isServing(), server::output);
    }
  }

  @Test
  void aClientInTheStoresOwnProcessIsToldAndUsedOn() throws Exception {
    Path data = directory.resolve("data");
    try (ErdaStore store = ErdaStore.open(data, ServedElsewhere.OPTIONS);
        ErdaClient client = store.client()) {
      fill(client);
      isToldAndUsedOn(client, data);
    }
  }

  /** The message was "get of key '…': ", without a reason. */
  @Test
  void aClientOverTcpHearsWhatHappened() throws Exception {
    Path data = directory.resolve("data");
    ServerOptions options =
        ServedElsewhere.OPTIONS.withListening(List.of(Listening.tcp("127.0.0.1:0")));
    try (ErdaServer server = ErdaServer.start(data, options);
        ErdaClient client = ErdaClient.connect(server.uris().getLast())) {
      fill(client);
      truncate(regions(data).getFirst(), PAGE);
      int damaged = 0;
      for (int i = 0; i < KEYS; i++) {
        try {
          assertArrayEquals(VALUE, client.get(key(i)));
        } catch (ErdaException.Damaged e) {
          assertTrue(e.getMessage().contains("was shortened"), e::getMessage);
          damaged++;
        }
      }
      assertTrue(damaged > 0 && damaged < KEYS, "damaged: " + damaged);
    }
  }

  /** Nor is it verified. It opens again when the file is as long as it was. */
  @Test
  void aStoreWithARegionOfAnotherLengthNamesItAndDoesNotOpen() throws Exception {
    Path data = directory.resolve("data");
    try (ErdaStore store = ErdaStore.open(data, ServedElsewhere.OPTIONS);
        ErdaClient client = store.client()) {
      fill(client);
    }
    Path region = regions(data).getFirst();
    byte[] whole = Files.readAllBytes(region);
    List<Runnable> openings =
        List.of(
            () -> StoreVerifier.verify(data),
            () -> ErdaStore.open(data, ServedElsewhere.OPTIONS).close(),
            () -> ErdaServer.start(data, ServedElsewhere.OPTIONS).close());
    for (int length :
        new int[] {
          0, 1, PAGE, whole.length - PAGE, whole.length - 1, whole.length + 1, 2 * whole.length
        }) {
      Files.write(region, Arrays.copyOf(whole, length));
      for (Runnable opening : openings) {
        ErdaException e = assertThrows(ErdaException.class, opening::run);
        String message = e.getMessage();
        assertTrue(
            message.contains(region.getFileName().toString())
                && message.contains(" " + length + " bytes")
                && (length == 0 || message.contains(" " + whole.length))
                && !message.contains("\n"),
            message);
      }
      assertEquals(length, Files.size(region), "it is left as it is");
      Files.write(region, whole);
    }
    try (ErdaStore store = ErdaStore.open(data, ServedElsewhere.OPTIONS);
        ErdaClient client = store.client()) {
      assertEquals(0, readAll(client, List.of()));
    }
  }
}
