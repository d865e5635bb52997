package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.logstore.LogGeometry;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.protocol.PutMode;
import io.erda.protocol.StoreTables;
import io.erda.protocol.SuperblockLayout;
import io.erda.server.engine.files.StoreFiles;
import io.erda.server.engine.files.Superblock;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** The superblock is what FORMAT.md says; no bytes in its place break its decoder. */
class SuperblockFormatTest {
  private static final long SEED = Long.getLong("erda.seed", 20261120L);
  private static final Superblock EXAMPLE =
      new Superblock(
          1,
          UUID.fromString("11223344-5566-7788-99aa-bbccddeeff00"),
          new LogGeometry(1, 1 << 16, 4096, 16),
          StoreTables.first(1024),
          42,
          Promise.PROCESS,
          PutMode.PUBLISH);

  @Test
  void superblockIsAsDocumented() throws IOException {
    try (HeapDirectory directory = new HeapDirectory();
        PersistentMemory memory = directory.create(StoreFiles.SUPERBLOCK, Superblock.BYTES)) {
      EXAMPLE.store(memory);
      String stored =
          HexFormat.of()
              .formatHex(memory.segment().asSlice(4096, 120).toArray(ValueLayout.JAVA_BYTE));
      assertEquals(example(), stored);
      Superblock loaded = Superblock.load(memory);
      assertEquals(2, loaded.sequence());
      assertEquals(EXAMPLE.store(), loaded.store());
      assertEquals(EXAMPLE.geometry(), loaded.geometry());
      assertEquals(EXAMPLE.hashSeed(), loaded.hashSeed());
    }
  }

  /** The newest copy is loaded, whichever of the two copies of a change was stored. */
  @Test
  void aDoublingIsStoredOverTheOlderCopyFirst() throws IOException {
    try (HeapDirectory directory = new HeapDirectory();
        PersistentMemory memory = directory.create(StoreFiles.SUPERBLOCK, Superblock.BYTES)) {
      EXAMPLE.store(memory);
      Superblock before = Superblock.load(memory);
      assertEquals(before, EXAMPLE.stored());
      byte[] newest = memory.segment().asSlice(0, 120).toArray(ValueLayout.JAVA_BYTE);
      Superblock changed = before.withTables(before.tables().withNext(2048));
      changed.store(memory);
      Superblock doubling = Superblock.load(memory);
      assertEquals(changed.stored(), doubling);
      assertTrue(doubling.tables().resizing());
      memory.put(0, MemorySegment.ofArray(newest), 0, 120);
      assertEquals(changed, Superblock.load(memory), "the other copy was not stored");
      doubling.withTables(doubling.tables().withNextAlone()).store(memory);
      assertEquals(2048, Superblock.load(memory).tables().buckets());
      assertEquals(2, Superblock.load(memory).tables().generation());
    }
  }

  /** The entries go into a smaller table and back; no number of a table is given twice. */
  @Test
  void aHalvingThatTurnsRoundKeepsTheLargeTable() throws IOException {
    try (HeapDirectory directory = new HeapDirectory();
        PersistentMemory memory = directory.create(StoreFiles.SUPERBLOCK, Superblock.BYTES)) {
      StoreTables large = new StoreTables(4, 2048, 0, 0, 4, 1024);
      StoreTables halving = large.withNext(1024);
      assertEquals(halving, storedAndLoaded(memory, halving));
      assertTrue(halving.halving());
      assertEquals(new StoreTables(4, 2048, 5, 1024, 5, 1024), halving);
      StoreTables turned = halving.turned();
      assertEquals(turned, storedAndLoaded(memory, turned));
      assertFalse(turned.halving());
      assertEquals(new StoreTables(5, 1024, 4, 2048, 5, 1024), turned);
      StoreTables back = turned.withNextAlone();
      assertEquals(back, storedAndLoaded(memory, back));
      assertEquals(new StoreTables(4, 2048, 0, 0, 5, 1024), back);
      assertEquals(6, back.withNext(4096).nextGeneration());
    }
  }

  private static StoreTables storedAndLoaded(PersistentMemory memory, StoreTables tables) {
    EXAMPLE.withTables(tables).store(memory);
    return Superblock.load(memory).tables();
  }

  /** A store of layout 2 was doubled only, and does not say with how many buckets it began. */
  @Test
  void theLayoutBeforeTablesWereHalvedIsRead() throws IOException {
    try (HeapDirectory directory = new HeapDirectory();
        PersistentMemory memory = directory.create(StoreFiles.SUPERBLOCK, Superblock.BYTES)) {
      EXAMPLE.withTables(new StoreTables(3, 1 << 20, 4, 1 << 21, 0, 0)).store(memory);
      for (long copy = 0; copy < SuperblockLayout.BYTES; copy += SuperblockLayout.COPY_STRIDE) {
        MemorySegment bytes = memory.segment().asSlice(copy, SuperblockLayout.COPY_BYTES);
        bytes.set(ValueLayout.JAVA_INT, 8, 2);
        bytes.asSlice(92, 24).fill((byte) 0);
        CRC32C crc = new CRC32C();
        crc.update(bytes.asSlice(0, 116).toArray(ValueLayout.JAVA_BYTE));
        bytes.set(ValueLayout.JAVA_INT, 116, (int) crc.getValue());
      }
      assertFalse(SuperblockLayout.isOfToday(memory.segment()));
      Superblock loaded = Superblock.load(memory);
      assertEquals(new StoreTables(3, 1 << 20, 4, 1 << 21, 4, 1 << 18), loaded.tables());
      loaded.again().store(memory);
      assertTrue(SuperblockLayout.isOfToday(memory.segment()));
      assertEquals(loaded.tables(), Superblock.load(memory).tables());
    }
  }

  @Test
  void thePromiseIsPartOfIt() throws IOException {
    try (HeapDirectory directory = new HeapDirectory();
        PersistentMemory memory = directory.create(StoreFiles.SUPERBLOCK, Superblock.BYTES)) {
      EXAMPLE.withPromise(Promise.POWER).store(memory);
      assertEquals(1, memory.segment().get(ValueLayout.JAVA_INT, 84));
      Superblock loaded = Superblock.load(memory);
      assertEquals(Promise.POWER, loaded.promise());
      assertEquals(Promise.POWER, loaded.again().promise());
      assertEquals(Promise.POWER, loaded.stored().promise());
      loaded.withPromise(Promise.PROCESS).store(memory);
      assertEquals(Promise.PROCESS, Superblock.load(memory).promise());
      assertEquals(0, memory.segment().get(ValueLayout.JAVA_INT, 84));
    }
  }

  @Test
  void damageIsSaidWhateverItIs() throws IOException {
    Random random = new Random(SEED);
    try (HeapDirectory directory = new HeapDirectory();
        PersistentMemory memory = directory.create(StoreFiles.SUPERBLOCK, Superblock.BYTES)) {
      for (int run = 0; run < 2000; run++) {
        EXAMPLE.store(memory);
        for (long copy = 0; copy < 2; copy++) {
          long at = copy * 4096 + random.nextInt(120);
          byte[] junk = {
            (byte) (memory.segment().get(ValueLayout.JAVA_BYTE, at) ^ 1 + random.nextInt(255))
          };
          memory.put(at, MemorySegment.ofArray(junk), 0, 1);
        }
        assertThrows(
            ErdaException.class,
            () -> Superblock.load(memory),
            "run " + run + " of -Derda.seed=" + SEED);
      }
    }
  }

  private static String example() throws IOException {
    List<String> lines = Files.readAllLines(Path.of("FORMAT.md"));
    StringBuilder hex = new StringBuilder();
    for (int i = lines.indexOf("    superblock") + 1;
        i < lines.size() && lines.get(i).startsWith("    ");
        i++) {
      String line = lines.get(i).strip();
      hex.append(line, 0, Math.min(line.length(), 23));
    }
    return hex.toString().replace(" ", "").toLowerCase(java.util.Locale.ROOT);
  }
}
