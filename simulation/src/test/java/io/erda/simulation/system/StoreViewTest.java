package io.erda.simulation.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.logstore.LogGeometry;
import io.erda.protocol.Root;
import io.erda.simulation.PersistenceDomain;
import io.erda.simulation.SimulatedDisk;
import java.io.IOException;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Reading damaged files. */
final class StoreViewTest {
  private final SimulatedDisk disk =
      new SimulatedDisk(PersistenceDomain.MEMORY_CONTROLLER, new SplittableRandom(1));
  private final StoreView view = new StoreView(disk, new LogGeometry(1, 1 << 16, 4096, 2));

  /** It ended a run of a mutant. */
  @Test
  void aRootThatWasCutCountsNoMoves() throws IOException {
    assertEquals(0, view.moves());
    disk.directory().create("root", 4096).putLongRelease(Root.STRUCTURE_COUNTER_OFFSET, 6);
    assertEquals(3, view.moves());
    disk.setLength("root", 16);
    assertEquals(0, view.moves());
  }
}
