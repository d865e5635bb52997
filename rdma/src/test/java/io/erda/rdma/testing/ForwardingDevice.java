package io.erda.rdma.testing;

import io.erda.pmem.Backing;
import io.erda.pmem.PersistentMemory;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceStatistics;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.QueuePair;
import io.erda.rdma.RefusalListener;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Forwards to another device: for tests that do one thing differently, and hand out its queue pairs
 * in a wrapper (see {@link ForwardingQueuePair}).
 */
public abstract class ForwardingDevice implements Device {
  private final Device device;

  /** Forwards to {@code device}. */
  protected ForwardingDevice(Device device) {
    this.device = Objects.requireNonNull(device);
  }

  @Override
  public MemoryRegion register(MemorySegment memory, Backing backing, int access) {
    return device.register(memory, backing, access);
  }

  @Override
  public MemoryRegion register(PersistentMemory memory, int access) {
    return device.register(memory, access);
  }

  @Override
  public void deregister(MemoryRegion region) {
    device.deregister(region);
  }

  @Override
  public void bind(String address) throws IOException {
    device.bind(address);
  }

  @Override
  public Listener listen(String address) throws IOException {
    return device.listen(address);
  }

  @Override
  public Listener listen(String address, RefusalListener refusals, Consumer<Throwable> failures)
      throws IOException {
    return device.listen(address, refusals, failures);
  }

  @Override
  public QueuePair connect(String address, MemorySegment privateData, Duration timeout) {
    return device.connect(address, privateData, timeout);
  }

  @Override
  public int messageBytesMax() {
    return device.messageBytesMax();
  }

  @Override
  public boolean readsNow() {
    return device.readsNow();
  }

  @Override
  public boolean readsOnly() {
    return device.readsOnly();
  }

  @Override
  public boolean readsOutlivePeer() {
    return device.readsOutlivePeer();
  }

  @Override
  public boolean flushes() {
    return device.flushes();
  }

  @Override
  public boolean limitsWrites() {
    return device.limitsWrites();
  }

  @Override
  public boolean forwardWakeups(Runnable wakeup) {
    return device.forwardWakeups(wakeup);
  }

  @Override
  public Map<String, LongSupplier> figures() {
    return device.figures();
  }

  @Override
  public boolean await(long timeoutNs) {
    return device.await(timeoutNs);
  }

  @Override
  public void wakeup() {
    device.wakeup();
  }

  @Override
  public int strangers() {
    return device.strangers();
  }

  @Override
  public DeviceStatistics statistics() {
    return device.statistics();
  }

  @Override
  public void close() {
    device.close();
  }
}
