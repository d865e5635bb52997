package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.logstore.LogGeometry;
import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.Promise;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The record of a stop is what FORMAT.md says, and tells every byte that differs. */
class StopRecordTest {
  private static final Superblock SUPERBLOCK =
      new Superblock(
          1,
          UUID.fromString("11223344-5566-7788-99aa-bbccddeeff00"),
          new LogGeometry(1, 1 << 16, 4096, 16),
          1,
          1024,
          42,
          false,
          Promise.PROCESS);

  private final HeapDirectory directory = new HeapDirectory();

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
    try (PersistentMemory memory = directory.open(StopRecord.NAME)) {
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

  /** Every byte of what it covers, and of itself. */
  @Test
  void everyByteThatDiffersIsTold() throws IOException {
    createAll();
    assertEquals(StopRecord.State.PROVEN, state());
    for (String name : List.of("root", "regions", "table-1", StopRecord.NAME)) {
      try (PersistentMemory memory = directory.open(name)) {
        MemorySegment bytes = memory.segment();
        for (long at = 0; at < bytes.byteSize(); at++) {
          byte was = bytes.get(ValueLayout.JAVA_BYTE, at);
          bytes.set(ValueLayout.JAVA_BYTE, at, (byte) (was ^ 16));
          assertEquals(
              name.equals(StopRecord.NAME) ? StopRecord.State.USELESS : StopRecord.State.DIFFERS,
              state(),
              name + ", byte " + at);
          bytes.set(ValueLayout.JAVA_BYTE, at, was);
        }
      }
    }
    assertEquals(StopRecord.State.PROVEN, state());
  }

  private StopRecord.State state() throws IOException {
    StopRecord.Verdict verdict = StopRecord.check(directory, SUPERBLOCK, 3);
    assertEquals(verdict.state() == StopRecord.State.PROVEN, verdict.words().isEmpty());
    return verdict.state();
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
    assertFalse(directory.exists(StopRecord.NAME));
    store.engine.close();
    assertTrue(directory.exists(StopRecord.NAME));
    store = StoreHarness.open(directory);
    assertFalse(directory.exists(StopRecord.NAME));
    store = StoreHarness.open(directory.anotherView());
    assertEquals(StopRecord.State.NONE, store.engine.stopped().state());
  }

  /** The opening after a kill in the middle of a stop finds what was begun, and goes on. */
  @Test
  void aStopThatWasInterrupted() throws IOException {
    for (int stores = 0; ; stores++) {
      HeapDirectory disk = new HeapDirectory();
      StoreHarness store = StoreHarness.open(disk);
      store.requireOk(store.put("key", new byte[8]));
      store.engine.close();
      boolean done = false;
      try {
        CrashingDirectory crashing = new CrashingDirectory(disk.anotherView(), stores);
        StoreHarness.open(crashing).engine.close();
        done = true;
      } catch (CrashingDirectory.Crash e) {
        // As was meant.
      }
      store = StoreHarness.open(disk.anotherView());
      assertEquals(8, store.get("key").length);
      assertFalse(disk.exists(StopRecord.NEW_NAME), "what was begun is removed");
      if (done) {
        return;
      }
    }
  }
}
