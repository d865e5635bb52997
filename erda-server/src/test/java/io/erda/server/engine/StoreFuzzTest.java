package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.fuzz.Fuzz;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Protocol;
import io.erda.protocol.Result;
import io.erda.server.engine.files.StoreFiles;
import io.erda.server.engine.inspection.StoreInspection;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A store one of whose files is anything: superblock, root, region table, region, table. It is
 * refused with one line, or it opens and serves; a value is then what was put, or said to be
 * damaged.
 */
@Timeout(value = 60, unit = java.util.concurrent.TimeUnit.MINUTES)
class StoreFuzzTest {
  private static final int KEYS = 12;
  private static final int SUPERBLOCK_COPY_BYTES = 120;

  private static byte[] value(int i) {
    byte[] value = new byte[20 + 37 * i];
    Arrays.fill(value, (byte) (i + 1));
    return value;
  }

  /** Makes a store as a stop leaves it, with its record, or as a kill does, with marks open. */
  private static Map<String, byte[]> store(boolean stopped) throws IOException {
    HeapDirectory directory = new HeapDirectory();
    StoreHarness store = StoreHarness.open(directory);
    for (int i = 0; i < KEYS; i++) {
      store.requireOk(store.put("key" + i, value(i)));
    }
    store.requireOk(store.put("key3", value(3)));
    store.requireOk(store.put("key4", null));
    if (stopped) {
      store.close();
    }
    Map<String, byte[]> files = new TreeMap<>();
    for (String name : directory.names()) {
      try (PersistentMemory memory = directory.anotherView().open(name)) {
        files.put(name, memory.segment().toArray(ValueLayout.JAVA_BYTE));
      }
    }
    return files;
  }

  private static HeapDirectory directory(Map<String, byte[]> files) throws IOException {
    HeapDirectory directory = new HeapDirectory();
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      if (file.getValue().length > 0) {
        try (PersistentMemory memory = directory.create(file.getKey(), file.getValue().length)) {
          MemorySegment.copy(
              MemorySegment.ofArray(file.getValue()),
              0,
              memory.segment(),
              0,
              file.getValue().length);
        }
      }
    }
    return directory;
  }

  @Test
  void anyFileOfAStore() throws IOException {
    Map<String, byte[]> whole = store(false);
    List<String> names = List.copyOf(whole.keySet());
    // Only the used part of each file is mutated.
    List<byte[]> heads = new ArrayList<>();
    for (String name : names) {
      byte[] bytes = whole.get(name);
      int from = name.startsWith("table") ? 4096 : 0;
      int length = name.equals(StoreFiles.SUPERBLOCK) ? SUPERBLOCK_COPY_BYTES : 4096 + 512;
      byte[] head = Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + length));
      byte[] numbered = Arrays.copyOf(head, head.length + 1);
      numbered[head.length] = (byte) names.indexOf(name);
      heads.add(numbered);
    }
    Fuzz.run(
        StoreFuzzTest.class,
        heads,
        (input, random) -> {
          if (input.length == 0) {
            return;
          }
          int which = Math.floorMod(input[input.length - 1], names.size());
          String name = names.get(which);
          Map<String, byte[]> files = new TreeMap<>(whole);
          byte[] file = whole.get(name).clone();
          int from = name.startsWith("table") ? 4096 : 0;
          System.arraycopy(input, 0, file, from, Math.min(input.length - 1, file.length - from));
          if (name.equals(StoreFiles.SUPERBLOCK) && random.nextInt(4) > 0) {
            // One whole copy is enough, and hides the other.
            System.arraycopy(file, 0, file, 4096, SUPERBLOCK_COPY_BYTES);
          }
          if (random.nextInt(8) == 0) {
            file = Arrays.copyOf(file, random.nextInt(2 * file.length));
          } else if (random.nextBoolean()) {
            fixChecksums(name, file);
          }
          files.put(name, file);
          open(directory(files), random);
        });
  }

  @Test
  void theRecordOfAStop() throws IOException {
    Map<String, byte[]> whole = store(true);
    Fuzz.run(
        StoreFuzzTest.class,
        List.of(whole.get(StoreFiles.STOPPED)),
        (input, random) -> {
          byte[] record = input.clone();
          if (random.nextBoolean() && record.length >= 16) {
            Arrays.fill(record, 12, 16, (byte) 0);
            putChecksum(record, 0, record.length, 12);
          }
          Map<String, byte[]> files = new TreeMap<>(whole);
          files.put(StoreFiles.STOPPED, record);
          open(directory(files), random);
        });
  }

  /** Corrects checksums, so that the bytes that they protect are examined, too. */
  private static void fixChecksums(String name, byte[] file) {
    if (name.equals(StoreFiles.SUPERBLOCK)) {
      putChecksum(file, 0, 116, 116);
      putChecksum(file, 4096, 116, 116);
    } else if (name.startsWith("region")) {
      Arrays.fill(file, 12, 16, (byte) 0);
      putChecksum(file, 0, 64, 12);
    }
  }

  private static void putChecksum(byte[] file, int from, int length, int at) {
    CRC32C crc = new CRC32C();
    crc.update(file, from, length);
    for (int i = 0; i < 4; i++) {
      file[from + at + i] = (byte) (crc.getValue() >>> 8 * i);
    }
  }

  private static void open(HeapDirectory directory, RandomGenerator random) {
    StoreEngine engine;
    try {
      engine = StoreOpening.open(directory, null, new Random(1));
    } catch (ErdaException e) {
      assertFalse(e.getMessage().contains("\n"), e.getMessage());
      return;
    } finally {
      if (random.nextInt(1000) == 0) {
        System.gc(); // mappings of refused stores are the collector's
      }
    }
    ServerCore core =
        new ServerCore(
            engine, ServiceOptions.DEFAULT.withGrowth(StoreHarness.SLOWLY), System::nanoTime);
    try {
      new StoreInspection(engine, (key, what) -> assertFalse(what.contains("\n"), what)).run();
      for (int i = 0; i <= KEYS; i++) {
        byte[] key = ("key" + i).getBytes();
        MemorySegment keySegment = MemorySegment.ofArray(key);
        engine.resolve(keySegment, 0, key.length);
        if (random.nextInt(4) == 0) {
          core.writer().erase(keySegment, 0, key.length);
        }
      }
      assertTrue(Protocol.KEY_BYTES_MAX >= engine.keyBytesMax() && engine.keyBytesMax() > 0);
      StoreHarness harness = StoreHarness.over(engine, core.writer());
      int result = harness.put("another", new byte[50]);
      assertTrue(
          result == Result.OK || result == Result.TABLE_FULL || result == Result.LOG_FULL,
          Result.name(result));
      if (result == Result.OK) {
        assertTrue(Arrays.equals(new byte[50], harness.get("another")));
      }
    } finally {
      core.close();
    }
  }
}
