package io.erda.eval.paper;

import io.erda.eval.baselines.BaselineCalls;
import io.erda.eval.baselines.BaselineKind;
import io.erda.rdma.Device;
import io.erda.rdma.Poller;
import java.lang.foreign.MemorySegment;

/** A client of a baseline. Owns its device. */
final class BaselineCaller extends Caller {
  private static final long TIMEOUT_NS = 10_000_000_000L;

  private final Device device;
  private final BaselineCalls calls;

  BaselineCaller(BaselineKind kind, Device device, String address, int valueBytes) {
    super(valueBytes);
    this.device = device;
    calls =
        new BaselineCalls(
            kind, device, address, TIMEOUT_NS, Poller.DEFAULT_BUDGET_NS, System::nanoTime);
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
