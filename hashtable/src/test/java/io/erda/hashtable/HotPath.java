package io.erda.hashtable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Measures the time of the hot paths with all data in the cache, best of many rounds: {@code mvn -q
 * -pl hashtable -am test -Dtest=HotPath -Dsurefire.failIfNoSpecifiedTests=false
 * -Derda.hotPath=true}.
 */
@EnabledIfSystemProperty(named = "erda.hotPath", matches = "true")
class HotPath {
  private static final long BUCKETS = 1 << 14;
  private static final int CALLS = 8192;
  private static final int ROUNDS = 2000;

  private long sink;

  @Test
  void lookups() {
    for (double loadFactor : new double[] {0.3, 0.5, 0.6}) {
      PlainMemory memory = new PlainMemory(HashTable.bytesFor(BUCKETS));
      HashTable table = HashTable.create(memory, BUCKETS, new CrashExplorer.NoCounter());
      SplittableRandom random = new SplittableRandom(5);
      long[] keys = new long[(int) (BUCKETS * loadFactor)];
      for (int i = 0; i < keys.length; i++) {
        keys[i] = Entry.keyWord(random.nextLong(), 16);
        table.insert(keys[i], VersionWord.first(i + 1, false));
      }
      long[] asked = random.ints(CALLS, 0, keys.length).mapToLong(i -> keys[i]).toArray();
      MemorySegment segment = memory.segment();
      KeyProbe any = (slot, word) -> true;
      int[] i = new int[1];
      String load = "load factor " + loadFactor + ", ";
      print(load + "find", () -> table.find(asked[i[0]++ & (CALLS - 1)], any));
      print(load + "nextMatch, present", () -> match(segment, asked[i[0]++ & (CALLS - 1)], 0));
      print(
          load + "nextMatch, absent", () -> match(segment, asked[i[0]++ & (CALLS - 1)], 1L << 40));
    }
  }

  private static int match(MemorySegment segment, long keyWord, long mix) {
    return Neighbourhood.nextMatch(
        segment, Neighbourhood.offset(keyWord, BUCKETS), keyWord ^ mix, 0);
  }

  @Test
  void hash() {
    KeyHash hash = new KeyHash(42);
    MemorySegment direct = Arena.ofAuto().allocate(4096);
    MemorySegment heap = MemorySegment.ofArray(new byte[4096]);
    int[] i = new int[1];
    for (int length : new int[] {8, 16, 24, 32, 100}) {
      print("hash of " + length + " native bytes", () -> hash.of(direct, i[0]++ & 1023, length));
      print("hash of " + length + " heap bytes", () -> hash.of(heap, i[0]++ & 1023, length));
    }
  }

  private void print(String what, LongSupplier call) {
    long best = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) {
      long start = System.nanoTime();
      for (int i = 0; i < CALLS; i++) {
        sink += call.getAsLong();
      }
      best = Math.min(best, System.nanoTime() - start);
    }
    System.out.printf("%-40s %5.1f ns%n", what, (double) best / CALLS);
  }
}
