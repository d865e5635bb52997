package io.erda.server.engine;

import io.erda.logstore.Region;
import io.erda.rdma.Access;
import io.erda.rdma.Device;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;

/**
 * One device that the store is served on: its listener and what is registered with it. Borrows the
 * device, owns the rest.
 */
final class Port implements AutoCloseable {
  final Device device;
  final Listener listener;
  final MemoryRegion root;
  final MemoryRegion table;
  private final MemoryRegion[] regions;

  Port(Device device, Listener listener, StoreEngine engine) {
    this.device = device;
    this.listener = listener;
    this.root =
        device.register(
            engine.root().memory().segment(), engine.root().memory().backing(), Access.REMOTE_READ);
    this.table =
        device.register(
            engine.tableMemory().segment(), engine.tableMemory().backing(), Access.REMOTE_READ);
    this.regions = new MemoryRegion[engine.log().geometry().regionsMax()];
    engine.log().regions().forEach(this::register);
  }

  void register(Region region) {
    regions[region.slot()] =
        device.register(
            region.memory().segment(),
            region.memory().backing(),
            Access.REMOTE_READ | Access.REMOTE_WRITE);
  }

  /** From now on nobody's READ or WRITE of the region counts. */
  void deregister(Region region) {
    device.deregister(regions[region.slot()]);
    regions[region.slot()] = null;
  }

  long keyOf(Region region) {
    return regions[region.slot()].remoteKey();
  }

  @Override
  public void close() {
    listener.close();
    for (MemoryRegion region : regions) {
      if (region != null) {
        device.deregister(region);
      }
    }
    device.deregister(table);
    device.deregister(root);
  }
}
