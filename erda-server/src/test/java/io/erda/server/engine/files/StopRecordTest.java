package io.erda.server.engine.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.logstore.LogGeometry;
import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.protocol.PutMode;
import io.erda.protocol.StopHeader;
import io.erda.protocol.StoreTables;
import io.erda.server.engine.CrashingDirectory;
import io.erda.server.engine.StoreHarness;
import io.erda.server.engine.store.StoreOpening;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** The record of a stop has the format of FORMAT.md, and reveals every byte that differs. */
class StopRecordTest {
  private static final Superblock SUPERBLOCK = superblock(1, 1024, false);

  private final HeapDirectory directory = new HeapDirectory();

  private static Superblock superblock(int generation, long buckets, boolean doubling) {
    StoreTables tables = new StoreTables(generation, buckets, 0, 0, generation, buckets);
    return new Superblock(
        1,
        UUID.fromString("11223344-5566-7788-99aa-bbccddeeff00"),
        new LogGeometry(1, 1 << 16, 4096, 16),
        doubling ? tables.withNext(2 * buckets) : tables,
        42,
        Promise.PROCESS,
        PutMode.PUBLISH);
  }

  private void create(String name, int length, int with) throws IOException {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) with);
    try (PersistentMemory memory = directory.create(name, length)) {
      memory.put(0, MemorySegment.ofArray(bytes), 0, length);
    }
  }

  private void createAll() throws IOException {
    create("root", 4096, 0);
    create("regions", 8, 1);
    create("table-1", 4104, 2);
    StopRecord.write(directory, SUPERBLOCK, 3);
  }

  @Test
  void theRecordIsAsDocumented() throws IOException {
    createAll();
    try (PersistentMemory memory = directory.open(StoreFiles.STOPPED)) {
      assertEquals(
          example(), HexFormat.of().formatHex(memory.segment().toArray(ValueLayout.JAVA_BYTE)));
    }
  }

  private static String example() throws IOException {
    List<String> lines = Files.readAllLines(Path.of("FORMAT.md"));
    StringBuilder hex = new StringBuilder();
    for (int i = lines.indexOf("    stopped") + 1;
        i < lines.size() && lines.get(i).startsWith("    ");
        i++) {
      hex.append(lines.get(i).strip().split("   ")[0].replace(" ", ""));
    }
    return hex.toString();
  }

  /** Tries every byte of the covered files, and of the record itself. */
  @Test
  void everyByteThatDiffersIsTold() throws IOException {
    createAll();
    assertEquals(StopRecord.State.PROVEN, state());
    for (String name : List.of("root", "regions", "table-1", StoreFiles.STOPPED)) {
      try (PersistentMemory memory = directory.open(name)) {
        MemorySegment bytes = memory.segment();
        for (long at = 0; at < bytes.byteSize(); at++) {
          byte was = bytes.get(ValueLayout.JAVA_BYTE, at);
          bytes.set(ValueLayout.JAVA_BYTE, at, (byte) (was ^ 16));
          assertEquals(
              name.equals(StoreFiles.STOPPED) ? StopRecord.State.USELESS : StopRecord.State.DIFFERS,
              state(),
              name + ", byte " + at);
          bytes.set(ValueLayout.JAVA_BYTE, at, was);
        }
      }
    }
    assertEquals(StopRecord.State.PROVEN, state());
  }

  private StopRecord.State state() throws IOException {
    return state(SUPERBLOCK, 3);
  }

  private StopRecord.State state(Superblock superblock, long incarnation) throws IOException {
    StopRecord.Verdict verdict = StopRecord.check(directory, superblock, incarnation);
    assertEquals(verdict.state() == StopRecord.State.PROVEN, verdict.words().isEmpty());
    return verdict.state();
  }

  /** The checksum shows that a record is whole. Its contents must also agree with the store. */
  @Test
  void aWholeRecordOfAnotherKindOrStoreIsUseless() throws IOException {
    for (int field : List.of(0, 8, 16, 24)) {
      directory.names().forEach(directory::delete);
      createAll();
      try (PersistentMemory memory = directory.open(StoreFiles.STOPPED)) {
        MemorySegment record = memory.segment();
        byte was = record.get(ValueLayout.JAVA_BYTE, field);
        record.set(ValueLayout.JAVA_BYTE, field, (byte) (was ^ 1));
        seal(record);
      }
      assertEquals(StopRecord.State.USELESS, state(), "field at " + field);
    }
    directory.delete(StoreFiles.STOPPED);
    create(StoreFiles.STOPPED, 8, 0);
    try (PersistentMemory memory = directory.open(StoreFiles.STOPPED)) {
      memory.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, StopHeader.MAGIC);
    }
    assertEquals(StopRecord.State.USELESS, state(), "a record of 8 bytes");
  }

  /**
   * Otherwise its names and lengths were used as they are, and an opening ended by a bug's error.
   */
  @Test
  void aWholeRecordThatNamesNoFilesIsUseless() throws IOException {
    int name = StopHeader.BYTES;
    int length = name + 24;
    for (int field : List.of(57, 59, name, length + 4, length + 7)) {
      directory.names().forEach(directory::delete);
      createAll();
      try (PersistentMemory memory = directory.open(StoreFiles.STOPPED)) {
        memory.segment().set(ValueLayout.JAVA_BYTE, field, (byte) 0x80);
        seal(memory.segment());
      }
      assertEquals(StopRecord.State.USELESS, state(), "byte at " + field);
    }
  }

  private static void seal(MemorySegment record) {
    record.set(ValueLayout.JAVA_INT_UNALIGNED, 12, 0);
    CRC32C crc = new CRC32C();
    crc.update(record.toArray(ValueLayout.JAVA_BYTE));
    record.set(ValueLayout.JAVA_INT_UNALIGNED, 12, (int) crc.getValue());
  }

  /** A store that was opened since has stored things that the record knows nothing of. */
  @Test
  void aRecordOfAnEarlierStopIsUseless() throws IOException {
    createAll();
    assertEquals(StopRecord.State.PROVEN, state(SUPERBLOCK, 3));
    assertEquals(StopRecord.State.USELESS, state(SUPERBLOCK, 4));
  }

  @Test
  void aSuperblockThatSaysSomethingElseIsTold() throws IOException {
    createAll();
    assertEquals(StopRecord.State.DIFFERS, state(superblock(2, 1024, false), 3));
    assertEquals(StopRecord.State.DIFFERS, state(superblock(1, 512, false), 3));
    assertEquals(StopRecord.State.DIFFERS, state(superblock(1, 1024, true), 3));
  }

  @Test
  void theTableThatIsBeingFilledIsCovered() throws IOException {
    create("table-2", 8200, 4);
    create("root", 4096, 0);
    create("regions", 8, 1);
    create("table-1", 4104, 2);
    Superblock doubling = superblock(1, 1024, true);
    StopRecord.write(directory, doubling, 3);
    assertEquals(StopRecord.State.PROVEN, state(doubling, 3));
    try (PersistentMemory memory = directory.open("table-2")) {
      memory.segment().set(ValueLayout.JAVA_BYTE, 8199, (byte) 9);
    }
    assertEquals(StopRecord.State.DIFFERS, state(doubling, 3));
  }

  /** All that is left of the file is as it was, and the file is not. */
  @Test
  void aFileOfAnotherLengthAndAMissingOneAreTold() throws IOException {
    createAll();
    directory.delete("table-1");
    assertEquals(StopRecord.State.DIFFERS, state());
    create("table-1", 4096, 2);
    assertEquals(StopRecord.State.DIFFERS, state());
    directory.delete("table-1");
    create("table-1", 4104, 2);
    assertEquals(StopRecord.State.PROVEN, state());
  }

  /** A store that promises to survive a power failure must be unchanged even after another boot. */
  @Test
  void anotherBootWithThePromiseOfPower() throws IOException {
    HeapDirectory lasting = new HeapDirectory(1 << 20, Survives.POWER_FAILURE);
    int[] boot = {7};
    MemoryDirectory booted =
        new ForwardingDirectory(lasting) {
          @Override
          public int boot() {
            return boot[0];
          }
        };
    for (String name : List.of("root", "regions", "table-1")) {
      booted.create(name, 8).close();
    }
    StopRecord.write(booted, SUPERBLOCK, 3);
    boot[0] = 8;
    assertEquals(StopRecord.State.PROVEN, StopRecord.check(booted, SUPERBLOCK, 3).state());
    try (PersistentMemory memory = lasting.open("table-1")) {
      memory.segment().set(ValueLayout.JAVA_BYTE, 1, (byte) 9);
    }
    assertEquals(StopRecord.State.DIFFERS, StopRecord.check(booted, SUPERBLOCK, 3).state());
  }

  /** A power failure that no promise covers may take a page: no damage, and no refusal. */
  @Test
  void anotherBootWithoutThePromiseOfPower() throws IOException {
    createAll();
    int[] boot = {7};
    MemoryDirectory booted =
        new ForwardingDirectory(directory) {
          @Override
          public int boot() {
            return boot[0];
          }
        };
    StopRecord.write(booted, SUPERBLOCK, 3);
    try (PersistentMemory memory = directory.open("table-1")) {
      memory.segment().set(ValueLayout.JAVA_BYTE, 9, (byte) 9);
    }
    assertEquals(StopRecord.State.DIFFERS, StopRecord.check(booted, SUPERBLOCK, 3).state());
    boot[0] = 8;
    assertEquals(StopRecord.State.USELESS, StopRecord.check(booted, SUPERBLOCK, 3).state());
  }

  /** A server that is killed leaves none; one that is stopped does, and the next removes it. */
  @Test
  void onlyACleanStopLeavesOne() throws IOException {
    StoreHarness store = StoreHarness.open(directory);
    store.requireOk(store.put("key", new byte[8]));
    assertFalse(directory.exists(StoreFiles.STOPPED));
    store.close();
    assertTrue(directory.exists(StoreFiles.STOPPED));
    store = StoreHarness.open(directory);
    assertFalse(directory.exists(StoreFiles.STOPPED));
    store = StoreHarness.open(directory.anotherView());
    assertEquals(StopRecord.State.NONE, store.engine.stopped().state());
  }

  /** An opening that is refused has changed nothing, the promise included. */
  @Test
  void anOpeningThatIsRefusedLeavesThePromise() throws IOException {
    MemoryDirectory willing =
        new ForwardingDirectory(directory) {
          private Survives survives = Survives.PROCESS_CRASH;

          @Override
          public Survives promise(Survives wanted) {
            survives = wanted;
            return survives;
          }

          @Override
          public Survives survives() {
            return survives;
          }
        };
    StoreHarness store = StoreHarness.open(willing);
    store.requireOk(store.put("key", new byte[8]));
    store.close();
    flipLastByteOfTable();
    for (int opening = 0; opening < 2; opening++) {
      assertThrows(
          ErdaException.Damaged.class,
          () -> StoreOpening.open(willing, null, Promise.POWER, new Random(7)));
      assertEquals(Promise.PROCESS, recordedPromise());
      assertTrue(directory.exists(StoreFiles.STOPPED));
    }
    flipLastByteOfTable();
    StoreOpening.open(willing, null, Promise.POWER, new Random(7));
    assertEquals(Promise.POWER, recordedPromise());
    assertFalse(directory.exists(StoreFiles.STOPPED));
  }

  private void flipLastByteOfTable() throws IOException {
    try (PersistentMemory memory = directory.open("table-1")) {
      MemorySegment bytes = memory.segment();
      long last = bytes.byteSize() - 1;
      byte was = bytes.get(ValueLayout.JAVA_BYTE, last);
      bytes.set(ValueLayout.JAVA_BYTE, last, (byte) (was ^ 1));
    }
  }

  private Promise recordedPromise() throws IOException {
    try (PersistentMemory memory = directory.open(StoreFiles.SUPERBLOCK)) {
      return Superblock.load(memory).promise();
    }
  }

  /** A record that came back would call damage what was stored since. */
  @Test
  void theRecordIsRemovedDurably() throws IOException {
    createAll();
    List<String> calls = new ArrayList<>();
    StopRecord.remove(
        new ForwardingDirectory(directory) {
          @Override
          public void delete(String name) throws IOException {
            calls.add("delete " + name);
            super.delete(name);
          }

          @Override
          public void syncNames() throws IOException {
            calls.add("sync");
            super.syncNames();
          }
        });
    assertEquals(List.of("delete stopped", "sync"), calls);
  }

  /** The opening after a kill in the middle of a stop finds what was begun, and goes on. */
  @Test
  void aStopThatWasInterrupted() throws IOException {
    for (int stores = 0; ; stores++) {
      HeapDirectory disk = new HeapDirectory();
      StoreHarness store = StoreHarness.open(disk);
      store.requireOk(store.put("key", new byte[8]));
      store.close();
      boolean done = false;
      try {
        CrashingDirectory crashing = new CrashingDirectory(disk.anotherView(), stores);
        StoreHarness.open(crashing).close();
        done = true;
      } catch (CrashingDirectory.Crash e) {
        // As was meant.
      }
      store = StoreHarness.open(disk.anotherView());
      assertEquals(8, store.get("key").length);
      assertFalse(disk.exists(StoreFiles.STOPPED_NEW), "what was begun is removed");
      if (done) {
        return;
      }
    }
  }
}
