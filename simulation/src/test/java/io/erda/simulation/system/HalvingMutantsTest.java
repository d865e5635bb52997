package io.erda.simulation.system;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.protocol.StoreTables;
import io.erda.simulation.system.TableMutants.Mutant;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Deliberate defects of a table that becomes smaller: the simulation has to find each. Those of the
 * code, and not of its memory, are {@code ShrinkMutants}.
 */
final class HalvingMutantsTest extends ResizingMutants {
  HalvingMutantsTest() {
    super("HALVING");
  }

  @Override
  Configuration configuration(long seed) {
    return Scenarios.tablesThatShrink(new SplittableRandom(seed));
  }

  @Override
  boolean isResizing(StoreTables tables) {
    return tables.halving();
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
  void theStretchIsNotStored() {
    assertFound(
        SeamMutant.STRETCH_NOT_STORED,
        new WhileResizing() {
          @Override
          public boolean drops(String name, long offset, long value) {
            return TableMutants.isStretch(name, offset) && value != 0 && isLeft(name);
          }
        });
  }

  /** Moved entries stay marked after the two tables were exchanged. */
  @Test
  void aTurnForgetsNothing() {
    assertFound(
        SeamMutant.TURN_LEAVES_MOVED,
        new WhileResizing() {
          @Override
          public boolean drops(String name, long offset, long value) {
            return value == 0
                && TableMutants.isEntry(name, offset)
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
        SeamMutant.TURN_LEAVES_STRETCH,
        new Mutant() {
          @Override
          public boolean drops(String name, long offset, long value) {
            return TableMutants.isStretch(name, offset) && value == 0;
          }
        });
  }
}
