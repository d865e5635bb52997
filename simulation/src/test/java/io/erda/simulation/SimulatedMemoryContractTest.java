package io.erda.simulation;

import io.erda.pmem.PersistentMemory;
import io.erda.pmem.PersistentMemoryContract;

/** {@link PersistentMemoryContract} for simulated memory. */
final class SimulatedMemoryContractTest extends PersistentMemoryContract {
  @Override
  protected PersistentMemory newMemory(long length) throws Exception {
    SimulatedDisk disk = new SimulatedDisk(PersistenceDomain.MEMORY_CONTROLLER, Seeds.random(1));
    return disk.sharedDirectory().create("m", length);
  }
}
