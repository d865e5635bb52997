package io.erda.hashtable;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * How full a table is when an insertion first fails, for {@code FORMAT.md}: run with {@code mvn -q
 * -pl hashtable -am test -Dtest=LoadFactor -Dsurefire.failIfNoSpecifiedTests=false
 * -Derda.loadFactor=20}, the argument being the largest table as a power of 2.
 */
class LoadFactor {
  private static final int SEEDS = 10;

  @Test
  @EnabledIfSystemProperty(named = "erda.loadFactor", matches = "\\d+")
  void print() {
    System.out.println(
        "| buckets | first failure, mean | lowest | highest | probe, longest | moves in one"
            + " insertion, most |");
    for (int power = 16; power <= Integer.getInteger("erda.loadFactor"); power++) {
      double sum = 0;
      double min = 1;
      double max = 0;
      long probe = 0;
      long moves = 0;
      for (int seed = 1; seed <= SEEDS; seed++) {
        Filling filling = new Filling(1L << power, seed);
        sum += filling.loadFactor;
        min = Math.min(min, filling.loadFactor);
        max = Math.max(max, filling.loadFactor);
        probe = Math.max(probe, filling.probeMax);
        moves = Math.max(moves, filling.movesMax);
      }
      System.out.printf(
          "| 2^%d | %.3f | %.3f | %.3f | %d | %d |%n", power, sum / SEEDS, min, max, probe, moves);
    }
  }

  private static final class Filling implements StructureCounter {
    final double loadFactor;
    long probeMax;
    long movesMax;
    private long moves;

    Filling(long buckets, int seed) {
      SplittableRandom random = new SplittableRandom(seed);
      HashTable table =
          HashTable.create(new PlainMemory(HashTable.bytesFor(buckets)), buckets, this);
      long keyWord;
      do {
        moves = 0;
        keyWord = Entry.keyWord(random.nextLong(), 16);
        probeMax = Math.max(probeMax, probe(table, Entry.bucket(keyWord, buckets)));
        movesMax = Math.max(movesMax, moves);
      } while (insert(table, keyWord));
      loadFactor = (double) table.size() / buckets;
    }

    private boolean insert(HashTable table, long keyWord) {
      boolean inserted = table.insert(keyWord, VersionWord.first(1, false)) != HashTable.NONE;
      movesMax = Math.max(movesMax, moves);
      return inserted;
    }

    private static long probe(HashTable table, long home) {
      long slot = home;
      while (slot < table.slots() && table.versionWord(slot) != 0) {
        slot++;
      }
      return slot - home;
    }

    @Override
    public void beginMove() {
      moves++;
    }

    @Override
    public void endMove() {}
  }
}
