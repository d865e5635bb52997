package io.erda.simulation;

import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.MemoryDirectoryContract;

/** {@link MemoryDirectoryContract} for simulated directories. */
final class SimulatedDirectoryContractTest extends MemoryDirectoryContract {
  private final SimulatedDisk disk =
      new SimulatedDisk(PersistenceDomain.MEMORY_CONTROLLER, Seeds.random(1));

  @Override
  protected MemoryDirectory openDirectory() {
    return disk.directory();
  }
}
