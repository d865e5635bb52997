package io.erda.rdma;

import io.erda.pmem.Backing;
import java.lang.foreign.MemorySegment;

/**
 * A pair of devices of one kind, for {@link DeviceContract}. Owns both, and the memory it hands
 * out.
 */
public interface DeviceFixture extends AutoCloseable {
  Device server();

  Device client();

  /** Where the server listens and the client connects. */
  String address();

  /** Returns an address at which no server listens. */
  String deadAddress();

  /** Memory of the server's that can be registered for peers. */
  ServerMemory serverMemory(long bytes);

  /** Memory of the client's for local use, 8-aligned, usable from any thread. */
  MemorySegment clientMemory(long bytes);

  /** Lets time pass: a simulated device advances its clock. Called between polls. */
  void step();

  /** Whether the two devices may be used by two threads at once, and by {@link Device#await}. */
  boolean hasThreads();

  /** Memory and what peers map. */
  record ServerMemory(MemorySegment segment, Backing backing) {}

  @Override
  void close();
}
