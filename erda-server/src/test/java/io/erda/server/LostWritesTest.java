package io.erda.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.pmem.MappedDirectory;
import io.erda.protocol.Root;
import io.erda.server.engine.files.UnwrittenMark;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Opens stores that lost power in the middle of a second write. There are zeros in place of the
 * bytes that were being written, the file {@code unwritten} has these bytes, and there is no mark,
 * because the mark's page can be lost as well. {@link FailedWriteTest} has a device that fails.
 */
class LostWritesTest {
  private static final int KEYS = 200;
  private static final int STEP = 1 << 20;

  @TempDir Path scratch;

  private Path data;

  @BeforeEach
  void place() {
    data = scratch.resolve("data");
  }

  @Test
  void aStepOfARegionThatPowerFailureInterruptedIsPutBack() throws Exception {
    fill();
    interrupt(region(), 0, STEP);
    requireEveryKey();
  }

  @Test
  void aCopyOfTheSuperblockThatPowerFailureInterruptedIsPutBack() throws Exception {
    fill();
    interrupt(data.resolve("superblock"), 4096, 4096);
    requireEveryKey();
  }

  @Test
  void aReaderIsToldUntilTheSecondWriteIsDone() throws Exception {
    fill();
    interrupt(region(), 0, STEP);
    assertTrue(StoreVerifier.isUnwritten(data));
    requireEveryKey();
    assertFalse(StoreVerifier.isUnwritten(data));
  }

  /**
   * The second write begins anew after the bytes were put back, and then its first step replaces
   * them in the file that keeps them. So the device must have them before.
   */
  @Test
  void whatIsPutBackIsDurable() throws Exception {
    try (CutFileSystem files = CutFileSystem.mount(scratch)) {
      data = files.root().resolve("data");
      fill();
      byte[] whole = Files.readAllBytes(region());
      interrupt(region(), 0, STEP);
      assertEquals(0, CutFileSystem.run("sync", "-f", data.toString()));
      try (MappedDirectory directory = MappedDirectory.open(data)) {
        directory.putBack("unwritten");
      }
      files.cut();
      data = files.root().resolve("data");
      assertArrayEquals(whole, Files.readAllBytes(region()));
    }
  }

  /**
   * The counter is odd while files are written, and the record of a clean stop has the even one.
   */
  @Test
  void theStructureCounterOfAStoppedStoreIsDurable() throws Exception {
    try (CutFileSystem files = CutFileSystem.mount(scratch)) {
      data = files.root().resolve("data");
      fill();
      assertEquals(0, CutFileSystem.run("sync", "-f", data.toString()));
      long before = structureCounter();
      try (MappedDirectory directory = MappedDirectory.open(data)) {
        UnwrittenMark.writeAgain(directory);
      }
      files.cut();
      data = files.root().resolve("data");
      assertEquals(before, structureCounter());
    }
  }

  private long structureCounter() throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(data.resolve("root")))
        .order(ByteOrder.LITTLE_ENDIAN)
        .getLong(Root.STRUCTURE_COUNTER_OFFSET);
  }

  private void fill() {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaClient client = ErdaClient.connect(server.uri())) {
      for (int i = 0; i < KEYS; i++) {
        client.put(key(i), value(i));
      }
    }
  }

  private void requireEveryKey() {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaClient client = ErdaClient.connect(server.uri())) {
      assertFalse(Files.exists(data.resolve("unwritten")));
      for (int i = 0; i < KEYS; i++) {
        assertArrayEquals(value(i), client.get(key(i)), "key " + i);
      }
    }
  }

  private Path region() throws IOException {
    try (var files = Files.list(data)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("region-"))
          .sorted()
          .findFirst()
          .orElseThrow();
    }
  }

  /** Leaves zeros where the bytes of a file were, and keeps them as erda-server/FORMAT.md says. */
  private void interrupt(Path file, int at, int most) throws IOException {
    byte[] all = Files.readAllBytes(file);
    byte[] bytes = Arrays.copyOfRange(all, at, Math.min(all.length, at + most));
    byte[] name = file.getFileName().toString().getBytes(US_ASCII);
    ByteBuffer kept = ByteBuffer.allocate(4096 + STEP).order(ByteOrder.LITTLE_ENDIAN);
    kept.put(0, "ERDAKEPT".getBytes(US_ASCII));
    kept.putInt(12, bytes.length).putLong(16, at).putInt(24, name.length).put(28, name);
    kept.put(4096, bytes);
    CRC32C checksum = new CRC32C();
    checksum.update(kept.array(), 12, 4096 - 12 + bytes.length);
    kept.putInt(8, (int) checksum.getValue());
    Files.write(data.resolve("unwritten"), kept.array());
    Arrays.fill(all, at, at + bytes.length, (byte) 0);
    Files.write(file, all);
  }

  private static byte[] key(int i) {
    return ("key-" + i).getBytes(UTF_8);
  }

  private static byte[] value(int i) {
    return ("value " + i).repeat(20).getBytes(UTF_8);
  }
}
