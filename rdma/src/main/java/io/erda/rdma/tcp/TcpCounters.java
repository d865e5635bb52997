package io.erda.rdma.tcp;

import io.erda.rdma.DeviceStatistics;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Counts what a connection has moved; one thread counts, any thread may look. */
final class TcpCounters {
  private static final int READS = 0;
  private static final int BYTES_READ = 1;
  private static final int WRITES = 2;
  private static final int BYTES_WRITTEN = 3;
  private static final int SENDS = 4;
  private static final int RECEIVES = 5;
  private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] counts = new long[RECEIVES + 1];

  private void add(int which, long more) {
    COUNT.setRelease(counts, which, counts[which] + more);
  }

  private long get(int which) {
    return (long) COUNT.getAcquire(counts, which);
  }

  void read(long bytes) {
    add(READS, 1);
    add(BYTES_READ, bytes);
  }

  void write(long bytes) {
    add(WRITES, 1);
    add(BYTES_WRITTEN, bytes);
  }

  void send() {
    add(SENDS, 1);
  }

  void receive() {
    add(RECEIVES, 1);
  }

  DeviceStatistics statistics() {
    return new DeviceStatistics(
        get(READS),
        get(BYTES_READ),
        get(WRITES),
        get(BYTES_WRITTEN),
        -1,
        get(SENDS),
        get(RECEIVES));
  }
}
