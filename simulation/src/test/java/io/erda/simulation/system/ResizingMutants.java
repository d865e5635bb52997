package io.erda.simulation.system;

import io.erda.hashtable.VersionWord;
import io.erda.pmem.MemoryDirectory;
import io.erda.protocol.StoreTables;
import io.erda.rdma.QueuePair;
import io.erda.simulation.system.TableMutants.Mutant;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Deliberate defects of a table that is resized, at both ends and in both directions. The
 * simulation has to find each of them. A subclass sets the direction, and adds the defects of that
 * direction.
 */
abstract class ResizingMutants {
  private static final int SEEDS_MAX = Integer.getInteger("erda.seeds", 3000);

  private final String way;

  /**
   * @param way what the names of this direction's {@link SeamMutant}s begin with
   */
  ResizingMutants(String way) {
    this.way = way;
  }

  /** A run in which tables are resized in this direction all along. */
  abstract Configuration configuration(long seed);

  /** Whether entries are moved in this direction. */
  abstract boolean isResizing(StoreTables tables);

  /** A mutant that knows whether a table is being left in this direction. */
  abstract class WhileResizing extends TableMutants.WithTables {
    /** Whether the entries of the table in this file are moved to another one. */
    final boolean isLeft(String name) {
      StoreTables tables = tables();
      return isResizing(tables) && name.equals(fileOf(tables));
    }
  }

  @Test
  void movedIsNotStored() {
    assertFound(
        "MOVED",
        new WhileResizing() {
          @Override
          public boolean drops(String name, long offset, long value) {
            return value == VersionWord.MOVED && isLeft(name);
          }
        });
  }

  @Test
  void readersLookAtTheOldTableAlone() {
    assertFound(
        "OLD_ALONE",
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
        "NEW_FIRST",
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
        "KEEPS_BOTH",
        new Mutant() {
          @Override
          public boolean drops(String name, long offset, long value) {
            return recovering && TableMutants.isEntry(name, offset) && value == 0;
          }
        });
  }

  private void assertFound(String what, Mutant mutant) {
    assertFound(SeamMutant.valueOf(way + "_" + what), mutant);
  }

  final void assertFound(SeamMutant which, Mutant mutant) {
    which.assertFound(SEEDS_MAX, seed -> run(seed, mutant).failure());
  }

  final RunResult run(long seed, Mutant mutant) {
    Configuration configuration = configuration(seed);
    StoreUnderTest erda = new TableMutants.MutantStore(new ErdaUnderTest(configuration), mutant);
    UnaryOperator<MemoryDirectory> over =
        directory -> new TableMutants.MutantDirectory(directory, mutant);
    return new SystemSimulation(seed, configuration, erda, over, UnaryOperator.identity()).run();
  }
}
