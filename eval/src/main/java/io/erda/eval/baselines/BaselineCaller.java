package io.erda.eval.baselines;

import io.erda.rdma.Device;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;

/** A client of a baseline. Owns its device. */
final class BaselineCaller extends Caller {
  private final Device device;
  private final BaselineCalls calls;

  /**
   * @param device which is closed even if {@code connect} fails
   * @param connect makes the client's calls
   */
  BaselineCaller(Device device, Function<Device, BaselineCalls> connect, int valueBytes) {
    super(valueBytes);
    this.device = device;
    try {
      calls = connect.apply(device);
    } catch (RuntimeException e) {
      device.close();
      throw e;
    }
  }

  @Override
  void get(MemorySegment key) {
    requireLength(calls.get(key, into));
  }

  @Override
  void put(MemorySegment key, MemorySegment value) {
    calls.put(key, value);
  }

  @Override
  void delete(MemorySegment key) {
    requireExisted(calls.delete(key));
  }

  @Override
  public void close() {
    calls.close();
    device.close();
  }
}
