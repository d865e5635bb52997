package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Root;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Another server opens a store through a mirror of its directory, where no lock is seen: as it does
 * then, the test begins an incarnation. A real mirror needs a file system that not every machine
 * has.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OtherOpeningTest {
  private static final byte[] KEY = "key".getBytes(UTF_8);

  @TempDir Path data;

  private void anotherOpens() throws IOException {
    try (FileChannel root =
        FileChannel.open(data.resolve("root"), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      root.read(word, Root.INCARNATION_OFFSET);
      word.putLong(0, word.getLong(0) + 1);
      root.write(word.rewind(), Root.INCARNATION_OFFSET);
    }
  }

  /** A hash of each file of the store, and its length. */
  private Map<Path, String> contents() throws IOException {
    Map<Path, String> contents = new TreeMap<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(data, Files::isRegularFile)) {
      for (Path file : files) {
        contents.put(file, Arrays.hashCode(Files.readAllBytes(file)) + " of " + Files.size(file));
      }
    }
    return contents;
  }

  @Test
  void theServerThatWasThereTakesNoMorePutsAndSaysWhyItEnds() throws Exception {
    ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      // Some leases end by that, so that a stop has something to store.
      for (int i = 0; i < 5_000; i++) {
        client.put(KEY, new byte[1_000]);
      }
      anotherOpens();
      ErdaException.ReadOnly told =
          assertThrows(
              ErdaException.ReadOnly.class,
              () -> {
                while (true) {
                  client.put(KEY, KEY);
                }
              });
      assertTrue(
          told.getMessage().contains("another server has opened the store"), told::getMessage);
    }
    Map<Path, String> left = contents();
    server.close();
    assertEquals(left, contents(), "it stores nothing beside the other server");
    Throwable ended = assertInstanceOf(ErdaException.ReadOnly.class, server.await());
    assertTrue(ended.getMessage().contains("another server has opened the store"));
    assertFalse(Files.exists(data.resolve("stopped")), "the other server may change the store");
  }

  @Test
  void oneThatIsOpenedAgainIsNoOther() throws Exception {
    for (int i = 0; i < 3; i++) {
      try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
          ErdaClient client = store.client()) {
        client.put(KEY, KEY);
        Thread.sleep(600);
        client.put(KEY, KEY);
        assertArrayEquals(KEY, client.get(KEY));
      }
    }
    assertEquals(List.of(), StoreVerifier.verify(data).findings());
  }
}
