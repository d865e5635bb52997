package io.erda.simulation.system;

import static org.junit.jupiter.api.Assertions.assertNull;

import io.erda.hashtable.VersionWord;
import io.erda.pmem.MemoryDirectory;
import io.erda.rdma.QueuePair;
import io.erda.server.engine.StoreGeometry;
import io.erda.simulation.system.TableMutants.Mutant;
import java.io.IOException;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Deliberate defects of doubling, on both sides: the simulation has to find each. */
final class DoublingMutantsTest {
  private static final int SEEDS_MAX = Integer.getInteger("erda.seeds", 3000);

  @Test
  void movedIsNotStored() {
    assertFound(
        "MOVED is not stored",
        new Mutant() {
          @Override
          public boolean drops(String name, long offset, long value) {
            return value == VersionWord.MOVED;
          }
        });
  }

  @Test
  void readersLookAtTheOldTableAlone() {
    assertFound(
        "readers look at the old table alone",
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
        "readers look at the new table first",
        new Mutant() {
          @Override
          public QueuePair ofClient(QueuePair queuePair) {
            return new TableMutants.NewFirst(queuePair);
          }
        });
  }

  /** The same pauses, in the right order: nothing is found. */
  @Test
  void readersThatPauseBetweenTheTablesMissNothing() {
    Mutant slow =
        new Mutant() {
          @Override
          public QueuePair ofClient(QueuePair queuePair) {
            return new TableMutants.Slow(queuePair);
          }
        };
    for (long seed = 1; seed <= 200; seed++) {
      RunResult result = run(seed, slow);
      assertNull(result.failure(), () -> result.report());
    }
  }

  @Test
  void recoveryKeepsBoth() {
    assertFound(
        "recovery keeps both entries",
        new Mutant() {
          @Override
          public boolean drops(String name, long offset, long value) {
            return recovering && name.startsWith("table-") && offset >= 4096 && value == 0;
          }
        });
  }

  @Test
  void theOldTableIsFreedWhenTheNewOneIsThere() {
    assertFound(
        "the old table is freed when the new one is there",
        new Mutant() {
          @Override
          public void mapped(MemoryDirectory directory, String name) throws IOException {
            if (name.startsWith("table-")) {
              int generation = Integer.parseInt(name.substring("table-".length()));
              directory.delete("table-" + (generation - 1));
            }
          }
        });
  }

  private static void assertFound(String what, Mutant mutant) {
    SeedSets.assertFound(what, SEEDS_MAX, seed -> run(seed, mutant).failure());
  }

  private static RunResult run(long seed, Mutant mutant) {
    Configuration configuration = growing(Configuration.random(new SplittableRandom(seed)));
    StoreUnderTest erda = new TableMutants.MutantStore(new ErdaUnderTest(configuration), mutant);
    UnaryOperator<MemoryDirectory> over =
        directory -> new TableMutants.MutantDirectory(directory, mutant);
    return new SystemSimulation(seed, configuration, erda, over, UnaryOperator.identity()).run();
  }

  /** Two buckets to begin with. */
  private static Configuration growing(Configuration drawn) {
    return drawn.withStore(
        new StoreGeometry(drawn.store().geometry(), 2), Math.max(4, drawn.keys()));
  }
}
