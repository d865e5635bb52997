package io.erda.simulation.system;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.VersionWord;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.StoreTables;
import io.erda.protocol.SuperblockLayout;
import io.erda.rdma.QueuePair;
import io.erda.simulation.system.TableMutants.Mutant;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Deliberate defects of a table that becomes smaller: the simulation has to find each. */
final class HalvingMutantsTest {
  private static final int SEEDS_MAX = Integer.getInteger("erda.seeds", 3000);

  /** A mutant that acts while a table is halved, and only then. */
  private static class WhileHalving extends Mutant {
    private MemoryDirectory directory;

    @Override
    public void mapped(MemoryDirectory over, String name) {
      directory = over;
    }

    StoreTables tables() {
      try {
        if (directory == null || !directory.exists(SuperblockLayout.FILE)) {
          return StoreTables.first(2);
        }
        try (PersistentMemory memory = directory.open(SuperblockLayout.FILE)) {
          return SuperblockLayout.newest(memory.segment()).tables();
        }
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    /** Whether a word of a table is that of an entry that was moved. */
    boolean isMoved(String name, long offset) {
      try (PersistentMemory memory = directory.open(name)) {
        return memory.segment().get(ValueLayout.JAVA_LONG, offset) == VersionWord.MOVED;
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    /** Whether a table is being left for a smaller one. */
    boolean isLeft(String name) {
      StoreTables tables = tables();
      return tables.halving() && name.equals(SuperblockLayout.table(tables.generation()));
    }
  }

  @Test
  void withoutADefectNothingIsFound() {
    long halvings = 0;
    long turned = 0;
    for (long seed = 1; seed <= 40; seed++) {
      RunResult result = run(seed, new Mutant() {});
      assertNull(result.failure(), () -> result.report());
      halvings += result.halvings();
      turned += result.halvingsTurned();
    }
    assertTrue(halvings > 100 && turned > 0, halvings + " halvings, " + turned + " turned");
  }

  @Test
  void movedIsNotStored() {
    assertFound(
        "halving: MOVED is not stored",
        new WhileHalving() {
          @Override
          public boolean drops(String name, long offset, long value) {
            return value == VersionWord.MOVED && isLeft(name);
          }
        });
  }

  @Test
  void theStretchIsNotStored() {
    assertFound(
        "halving: the stretch is not stored",
        new WhileHalving() {
          @Override
          public boolean drops(String name, long offset, long value) {
            return offset == 128 && value != 0 && name.startsWith("table-") && isLeft(name);
          }
        });
  }

  @Test
  void readersLookAtTheOldTableAlone() {
    assertFound(
        "halving: readers look at the old table alone",
        new Mutant() {
          @Override
          public QueuePair ofClient(QueuePair queuePair) {
            return new TableMutants.OldAlone(queuePair);
          }
        });
  }

  @Test
  void readersLookAtTheNewTableFirst() {
    assertFound(
        "halving: readers look at the new table first",
        new Mutant() {
          @Override
          public QueuePair ofClient(QueuePair queuePair) {
            return new TableMutants.NewFirst(queuePair);
          }
        });
  }

  @Test
  void recoveryKeepsBoth() {
    assertFound(
        "halving: recovery keeps both entries",
        new Mutant() {
          @Override
          public boolean drops(String name, long offset, long value) {
            return recovering && name.startsWith("table-") && offset >= 4096 && value == 0;
          }
        });
  }

  /** What was moved stays marked when the two tables have changed places. */
  @Test
  void aTurnForgetsNothing() {
    assertFound(
        "halving: a turn leaves MOVED",
        new WhileHalving() {
          @Override
          public boolean drops(String name, long offset, long value) {
            return value == 0
                && offset >= 4096
                && offset % 16 == 8
                && !recovering
                && isLeft(name)
                && isMoved(name, offset);
          }
        });
  }

  @Test
  void aTurnLeavesTheStretch() {
    assertFound(
        "halving: a turn leaves the stretch",
        new WhileHalving() {
          @Override
          public boolean drops(String name, long offset, long value) {
            return offset == 128 && value == 0 && name.startsWith("table-");
          }
        });
  }

  private static void assertFound(String what, Mutant mutant) {
    SeedSets.assertFound(what, SEEDS_MAX, seed -> run(seed, mutant).failure());
  }

  private static RunResult run(long seed, Mutant mutant) {
    Configuration configuration = Scenarios.tablesThatShrink(new SplittableRandom(seed));
    StoreUnderTest erda = new TableMutants.MutantStore(new ErdaUnderTest(configuration), mutant);
    UnaryOperator<MemoryDirectory> over =
        directory -> new TableMutants.MutantDirectory(directory, mutant);
    return new SystemSimulation(seed, configuration, erda, over, UnaryOperator.identity()).run();
  }
}
