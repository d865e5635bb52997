package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.fuzz.Fuzz;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A table whose header, intent or entries are anything: it is refused with the one exception, or it
 * is used and checked without another.
 */
@Timeout(value = 60, unit = java.util.concurrent.TimeUnit.MINUTES)
class TableFuzzTest {
  private static final long BUCKETS = 16;

  /** Half full, with an intent of each kind or none. */
  private static byte[] table(long valid) {
    PlainMemory memory = new PlainMemory(HashTable.bytesFor(BUCKETS));
    HashTable table = HashTable.create(memory, BUCKETS, new CrashExplorer.NoCounter());
    for (int i = 0; i < 12; i++) {
      table.insert(0x0100_0000_0000_0000L | (i * 7L) << 8 | i, VersionWord.first(8 + i, i == 5));
    }
    if (valid != 0) {
      long destination = valid == TableLayout.EMPTYING ? 3 : 14;
      long[] words = {3, destination, table.keyWord(3), table.versionWord(3)};
      for (int i = 0; i < 4; i++) {
        memory.putLongRelease(TableLayout.INTENT_OFFSET + 8L * i, words[i]);
      }
      memory.putLongRelease(TableLayout.INTENT_CHECKSUM_OFFSET, TableLayout.checksum(words));
      memory.putLongRelease(TableLayout.VALID_OFFSET, valid);
    }
    return memory.segment().toArray(ValueLayout.JAVA_BYTE);
  }

  /** Only what means something is mutated: header, intent, entries; the page between is zeros. */
  private static byte[] packed(byte[] table) {
    byte[] packed = new byte[128 + table.length - 4096];
    System.arraycopy(table, 0, packed, 0, 128);
    System.arraycopy(table, 4096, packed, 128, table.length - 4096);
    return packed;
  }

  private static PlainMemory unpacked(byte[] packed) {
    PlainMemory memory = new PlainMemory(Math.max(8, packed.length + 4096 - 128 & ~7));
    for (int i = 0; i < packed.length; i++) {
      long at = i < 128 ? i : i + 4096L - 128;
      if (at < memory.segment().byteSize()) {
        memory.segment().set(ValueLayout.JAVA_BYTE, at, packed[i]);
      }
    }
    return memory;
  }

  @Test
  void tables() {
    List<byte[]> valid = new ArrayList<>();
    for (long word : new long[] {0, TableLayout.MOVING, TableLayout.EMPTYING}) {
      valid.add(packed(table(word)));
    }
    Fuzz.run(
        TableFuzzTest.class,
        valid,
        (input, random) -> {
          PlainMemory memory = unpacked(input);
          if (random.nextInt(4) == 0 && memory.segment().byteSize() > 128) {
            fixChecksums(memory);
          }
          HashTable.check(memory.segment(), finding -> assertTrue(!finding.message().isEmpty()));
          HashTable table;
          try {
            table = HashTable.open(memory, new CrashExplorer.NoCounter());
          } catch (DamagedTableException e) {
            assertTrue(!e.getMessage().contains("\n"));
            return;
          }
          use(table, random.nextLong() | 1, (int) random.nextLong(1, 1 << 20));
        });
  }

  private static void use(HashTable table, long keyWord, int offset) {
    long before = table.size();
    long slot = table.insert(keyWord, VersionWord.first(offset, false));
    if (slot != HashTable.NONE) {
      assertEquals(before + 1, table.size());
      assertTrue(table.find(keyWord, (s, w) -> VersionWord.newest(w) == offset) != HashTable.NONE);
      assertTrue(table.remove(slot, keyWord, table.versionWord(slot)));
    }
    table.forEach((at, key, word) -> {
      assertTrue(VersionWord.committed(word) >= 0 && VersionWord.older(word) >= 0);
      assertTrue(!VersionWord.toString(word).isEmpty());
      if (VersionWord.pending(word)) {
        table.rollback(at, key, word);
      } else {
        table.storeWord(at, key, word, VersionWord.update(word, offset, true));
      }
    });
  }

  private static void fixChecksums(PlainMemory memory) {
    MemorySegment bytes = memory.segment();
    memory.putLongRelease(
        TableLayout.HEADER_CHECKSUM_OFFSET,
        TableLayout.checksum(
            TableLayout.load(bytes, 0), TableLayout.load(bytes, 8), TableLayout.load(bytes, 16)));
    memory.putLongRelease(
        TableLayout.INTENT_CHECKSUM_OFFSET,
        TableLayout.checksum(
            TableLayout.load(bytes, 64),
            TableLayout.load(bytes, 72),
            TableLayout.load(bytes, 80),
            TableLayout.load(bytes, 88)));
  }
}
