package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/** The methods that gets and puts use allocate nothing after they were compiled. */
class AllocationTest {
  private static final int ROUNDS_MAX = 200;
  private static final int CALLS = 5_000;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private long sink;

  @Test
  void hash() {
    KeyHash hash = new KeyHash(1);
    MemorySegment heap = MemorySegment.ofArray(new byte[64]);
    MemorySegment direct = Arena.ofAuto().allocate(64);
    assertAllocatesNothing(() -> hash.of(heap, 3, 24));
    assertAllocatesNothing(() -> hash.of(direct, 3, 24));
  }

  @Test
  void nextMatch() {
    MemorySegment copy = Arena.ofAuto().allocate(Neighbourhood.BYTES, 8);
    assertAllocatesNothing(() -> Neighbourhood.nextMatch(copy, 0, 7, 0));
  }

  @Test
  void findAndStoreWord() {
    HashTable table =
        HashTable.create(
            new PlainMemory(HashTable.bytesFor(1024)), 1024, new CrashExplorer.NoCounter());
    table.insert(77, VersionWord.first(1, false));
    KeyProbe any = (slot, word) -> true;
    assertAllocatesNothing(() -> {
      long slot = table.find(77, any);
      long word = table.versionWord(slot);
      return table.storeWord(
              slot, 77, word, VersionWord.update(word, 1 + (int) (sink & 0xFFFF), false))
          ? 1
          : 0;
    });
  }

  /** Compilation takes an unknown number of rounds, so: some round allocates nothing. */
  private void assertAllocatesNothing(LongSupplier call) {
    long bytes = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS_MAX && bytes > 0; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < CALLS; i++) {
        sink += call.getAsLong();
      }
      bytes = threads.getCurrentThreadAllocatedBytes() - before;
    }
    assertTrue(bytes == 0, bytes + " bytes in " + CALLS + " calls");
  }
}
