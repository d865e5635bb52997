package io.erda.server.engine.service;

import io.erda.logstore.Region;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceStatistics;
import io.erda.server.engine.tables.TableGrowth;
import io.erda.server.engine.tables.Tables;
import java.util.ArrayList;
import java.util.List;

/**
 * The devices on which a store is served, and the memory that is registered with them. Also devices
 * on which the store is not served, but on which clients of earlier servers may live. Borrows the
 * devices, owns the ports. One thread.
 */
final class Ports implements TableGrowth.Listener, AutoCloseable {
  private final List<Port> ports = new ArrayList<>();
  private final List<Device> abandoned;

  /**
   * @param abandoned devices that the store is not served on, whose strangers count
   */
  Ports(List<Device> abandoned) {
    this.abandoned = abandoned;
  }

  void add(Port port) {
    ports.add(port);
  }

  List<Port> all() {
    return ports;
  }

  /** See {@link Device#strangers}. */
  int strangers() {
    int strangers = strangersOfAbandoned();
    for (Port port : ports) {
      strangers += port.device.strangers();
    }
    return strangers;
  }

  private int strangersOfAbandoned() {
    int strangers = 0;
    for (Device device : abandoned) {
      strangers += device.strangers();
    }
    return strangers;
  }

  DeviceStatistics statistics() {
    DeviceStatistics sum = DeviceStatistics.NONE;
    for (Port port : ports) {
      sum = sum.plus(port.device.statistics());
    }
    return sum;
  }

  @Override
  public void opened(Tables.Generation table) {
    ports.forEach(port -> port.register(table));
  }

  @Override
  public void retired(Tables.Generation table) {
    ports.forEach(port -> port.deregister(table));
  }

  void register(Region region) {
    ports.forEach(port -> port.register(region));
  }

  /** Deregisters a region: READs and WRITEs of it fail from now on. */
  void deregister(Region region) {
    ports.forEach(port -> port.deregister(region));
  }

  /** Deregisters all memory; the listeners go on. */
  void release() {
    ports.forEach(Port::release);
    ports.clear();
  }

  @Override
  public void close() {
    ports.forEach(Port::close);
    ports.clear();
  }
}
