package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.ForwardingMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A device failed while an entry was moved, and the structure counter stayed odd. Reads went on,
 * but no client could conclude any more that a key is absent, until the server was started again.
 */
class FailedMoveTest {
  private static final int BUCKETS = 64;
  private static final long NEW = 99L << 32;

  private long counter;

  private final StructureCounter counting =
      new StructureCounter() {
        @Override
        public void beginMove() {
          counter |= 1;
        }

        @Override
        public void endMove() {
          counter = (counter | 1) + 1;
        }
      };

  /** A memory whose drains fail from a given one on. */
  private static final class Failing extends ForwardingMemory {
    private int drainsLeft = Integer.MAX_VALUE;

    Failing(PlainMemory memory) {
      super(memory);
    }

    @Override
    public void drain() {
      if (--drainsLeft < 0) {
        throw new UncheckedIOException(new IOException("the device failed"));
      }
      super.drain();
    }
  }

  private static long keyWord(int i) {
    return (long) (i + 1) << 32 | (i < Neighbourhood.ENTRIES / 2 ? 0 : 1);
  }

  private static void requireAll(HashTable table, String when) {
    for (int i = 0; i < Neighbourhood.ENTRIES; i++) {
      long word = VersionWord.first(i + 1, false);
      assertTrue(table.find(keyWord(i), (slot, w) -> w == word) != HashTable.NONE, i + when);
    }
  }

  @Test
  void readersGoOnWhicheverDrainFails() {
    int drains = 0;
    for (boolean failed = true; failed; drains++) {
      PlainMemory plain = new PlainMemory(HashTable.bytesFor(BUCKETS));
      Failing memory = new Failing(plain);
      HashTable table = HashTable.create(memory, BUCKETS, counting);
      for (int i = 0; i < Neighbourhood.ENTRIES; i++) {
        table.insert(keyWord(i), VersionWord.first(i + 1, false));
      }
      long before = counter;
      memory.drainsLeft = drains;
      failed = false;
      try {
        table.insert(NEW, VersionWord.first(99, false));
      } catch (UncheckedIOException e) {
        failed = true;
      }
      String when = " after " + drains + " drains";
      assertEquals(0, counter & 1, "a move stays open" + when);
      assertTrue(failed || counter > before, "nothing was moved" + when);
      requireAll(table, when);
      HashTable again = HashTable.open(plain, counting);
      requireAll(again, when + ", opened again");
      List<TableFinding> findings = new ArrayList<>();
      again.check(findings::add);
      // An insertion that was cut off leaves no more than that, which counts for nothing.
      findings.removeIf(
          each -> each instanceof TableFinding.LeftKeyWord left && left.keyWord() == NEW);
      assertEquals(List.of(), findings, when);
    }
    assertTrue(drains > 5, "drains of a move and an insertion: " + drains);
  }
}
