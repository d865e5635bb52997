package io.erda.simulation.system;

import static org.junit.jupiter.api.Assertions.assertNull;

import io.erda.pmem.MemoryDirectory;
import io.erda.protocol.StoreTables;
import io.erda.protocol.SuperblockLayout;
import io.erda.rdma.QueuePair;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.simulation.system.TableMutants.Mutant;
import java.io.IOException;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Deliberate defects of a table that becomes larger: the simulation has to find each. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
final class DoublingMutantsTest extends ResizingMutants {
  DoublingMutantsTest() {
    super("DOUBLING");
  }

  /** Two buckets to begin with. */
  @Override
  Configuration configuration(long seed) {
    Configuration drawn = Configuration.random(new SplittableRandom(seed));
    return drawn.withStore(
        new StoreGeometry(drawn.store().geometry(), 2), Math.max(4, drawn.keys()));
  }

  @Override
  boolean isResizing(StoreTables tables) {
    return tables.resizing() && !tables.halving();
  }

  /** Makes the same pauses as the mutant that READs the new table first, but in the right order. */
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
  void theOldTableIsFreedWhenTheNewOneIsThere() {
    assertFound(
        SeamMutant.DOUBLING_OLD_FREED,
        new Mutant() {
          @Override
          public void mapped(MemoryDirectory directory, String name) throws IOException {
            if (name.startsWith(SuperblockLayout.TABLE_PREFIX)) {
              int generation =
                  Integer.parseInt(name.substring(SuperblockLayout.TABLE_PREFIX.length()));
              directory.delete(SuperblockLayout.table(generation - 1));
            }
          }
        });
  }
}
