package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Root;
import io.erda.protocol.SuperblockLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The error of a client that finds no server says that the files can be read exactly if they can.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KilledServerTest {
  private static final byte[] KEY = "key".getBytes(UTF_8);

  /** Something that happens to a store without a server. */
  private interface Accident {
    void happen(Path data) throws IOException;
  }

  @TempDir Path directory;

  private Path data() {
    return directory.resolve("data");
  }

  private String uri() {
    return "erda+shm:" + data();
  }

  private void leaveAStore() throws Exception {
    try (ServedElsewhere served = ServedElsewhere.start(data())) {
      try (ErdaClient erda = served.connect()) {
        erda.put(KEY, KEY);
      }
      served.kill();
    }
  }

  private String told() {
    String told =
        assertThrows(ErdaException.Unavailable.class, () -> ErdaClient.connect(uri())).getMessage();
    assertTrue(told.contains("no server is there"), told);
    return told;
  }

  @Test
  void theFilesOfAKilledServersStoreCanBeRead() throws Exception {
    leaveAStore();
    String told = told();
    assertTrue(told.endsWith("can be read, with ?read-only behind the URI"), told);
    try (ErdaClient reader = ErdaClient.connect(uri() + "?read-only")) {
      assertArrayEquals(KEY, reader.get(KEY));
    }
  }

  @Test
  void whereThereIsNoStoreNothingCanBeRead() {
    assertFalse(told().contains("?read-only"), this::told);
  }

  @Test
  void anotherStartOfTheMachine() throws Exception {
    notAfter(data -> {
      try (FileChannel root = open(data.resolve(Root.FILE))) {
        ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        root.read(word, Root.BOOT_OFFSET);
        word.putLong(0, word.getLong(0) + 2).rewind();
        root.write(word, Root.BOOT_OFFSET);
      }
    });
  }

  @Test
  void aDamagedSuperblock() throws Exception {
    notAfter(data -> {
      try (FileChannel superblock = open(data.resolve(SuperblockLayout.FILE))) {
        superblock.write(ByteBuffer.allocate((int) superblock.size()), 0);
      }
    });
  }

  @Test
  void aMissingRegionTable() throws Exception {
    notAfter(data -> Files.delete(data.resolve("regions")));
  }

  /** Connecting alone would not find it. */
  @Test
  void aMissingRegion() throws Exception {
    notAfter(data -> Files.delete(first(data, "region-")), true);
  }

  @Test
  void aTableThatCanNotBeOpened() throws Exception {
    notAfter(
        data -> {
          Path table = first(data, "table");
          Files.delete(table);
          Files.createDirectory(table);
        },
        true);
  }

  private static FileChannel open(Path file) throws IOException {
    return FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  private static Path first(Path data, String prefix) throws IOException {
    try (Stream<Path> files = Files.list(data)) {
      return files
          .filter(each -> each.getFileName().toString().startsWith(prefix))
          .sorted()
          .findFirst()
          .orElseThrow(() -> new IOException("no file of " + data + " begins with " + prefix));
    }
  }

  private void notAfter(Accident accident) throws Exception {
    notAfter(accident, false);
  }

  /**
   * @param connects whether it shows only when something is read
   */
  private void notAfter(Accident accident, boolean connects) throws Exception {
    leaveAStore();
    assertTrue(told().contains("?read-only"), this::told);
    accident.happen(data());
    assertFalse(told().contains("?read-only"), this::told);
    String reading = uri() + "?read-only";
    if (connects) {
      ErdaClient.connect(reading).close();
    } else {
      assertThrows(ErdaException.class, () -> ErdaClient.connect(reading), "it would work");
    }
  }
}
