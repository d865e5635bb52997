package io.erda.server.engine.service;

import io.erda.logstore.Extent;
import io.erda.logstore.Region;
import io.erda.rdma.Access;
import io.erda.rdma.Device;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.QueuePair;
import io.erda.server.engine.files.CommitsFile;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.tables.Tables;
import java.util.HashMap;
import java.util.Map;

/**
 * One device on which the store is served, with its listener and the memory that is registered with
 * it. Borrows the device, owns the listener and the registrations.
 */
final class Port implements AutoCloseable {
  final Device device;
  final Listener listener;
  final MemoryRegion root;

  /** The file by which clients commit; null where they don't. */
  private final MemoryRegion commits;

  private final Map<Integer, MemoryRegion> tables = new HashMap<>();
  private final MemoryRegion[] regions;

  /**
   * @param commits the file by which clients commit over this device; null when they don't
   */
  Port(Device device, Listener listener, StoreEngine engine, CommitsFile commits) {
    this.device = device;
    this.listener = listener;
    this.root = device.register(engine.root().memory(), Access.REMOTE_READ);
    this.commits =
        commits == null
            ? null
            : device.register(commits.memory(), Access.REMOTE_READ | Access.REMOTE_WRITE);
    engine.tables().inUse().forEach(this::register);
    this.regions = new MemoryRegion[engine.log().geometry().slots()];
    engine.log().regions().forEach(this::register);
  }

  void register(Tables.Generation table) {
    int swaps = commits == null ? 0 : Access.REMOTE_ATOMIC;
    tables.put(table.number(), device.register(table.memory(), Access.REMOTE_READ | swaps));
  }

  void deregister(Tables.Generation table) {
    device.deregister(tables.remove(table.number()));
  }

  /**
   * The table's remote key; 0 when {@code table} is null, or could not be registered for lack of
   * room.
   */
  long keyOf(Tables.Generation table) {
    MemoryRegion registered = table == null ? null : tables.get(table.number());
    return registered == null ? 0 : registered.remoteKey();
  }

  /**
   * Registers a region. If the device can enforce it, clients WRITE only to their leases (rule 7).
   */
  void register(Region region) {
    int writes = device.limitsWrites() ? 0 : Access.REMOTE_WRITE;
    regions[region.slot()] = device.register(region.memory(), Access.REMOTE_READ | writes);
  }

  /** The remote key of the file by which clients commit; 0 where they don't. */
  long commitsKey() {
    return commits == null ? 0 : commits.remoteKey();
  }

  /** Lets a client WRITE to its extent. Returns the remote key for that. */
  long grant(QueuePair client, Extent extent) {
    return client.grant(regions[extent.region().slot()], extent.place(), extent.length());
  }

  /** Deregisters a region: READs and WRITEs of it fail from now on. */
  void deregister(Region region) {
    if (regions[region.slot()] != null) {
      device.deregister(regions[region.slot()]);
      regions[region.slot()] = null;
    }
  }

  /** The region's remote key; 0 when it could not be registered for lack of room. */
  long keyOf(Region region) {
    MemoryRegion registered = regions[region.slot()];
    return registered == null ? 0 : registered.remoteKey();
  }

  @Override
  public void close() {
    listener.close();
    release();
  }

  /** Deregisters all memory from the device; the listener goes on. */
  void release() {
    for (MemoryRegion region : regions) {
      if (region != null) {
        device.deregister(region);
      }
    }
    tables.values().forEach(device::deregister);
    device.deregister(root);
    if (commits != null) {
      device.deregister(commits);
    }
  }
}
