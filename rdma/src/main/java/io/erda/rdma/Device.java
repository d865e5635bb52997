package io.erda.rdma;

import io.erda.pmem.Backing;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

/**
 * A device that moves bytes between processes without their help: an RDMA NIC, shared memory, a
 * software RNIC, a simulated one.
 *
 * <p>A device and all it makes belong to one thread, except {@link #wakeup()}. The creator closes
 * queue pairs, then regions, then the device.
 */
public interface Device extends AutoCloseable {
  /** The longest private data of a connection, bytes. */
  int PRIVATE_DATA_MAX = 192;

  /**
   * Registers memory.
   *
   * @param memory the bytes; must stay valid until {@link #deregister}
   * @param backing what another process maps; {@link Backing#none} for local use
   * @param access of {@link Access}
   */
  MemoryRegion register(MemorySegment memory, Backing backing, int access);

  /** Ends a registration: from now on its remote key is refused. */
  void deregister(MemoryRegion region);

  /**
   * Listens at an address of this device's form. @throws IOException when the address can't be
   * taken
   */
  Listener listen(String address) throws IOException;

  /**
   * Starts to connect; the queue pair reports {@link Opcode#CONNECT} when it is decided, {@link
   * Status#TIMEOUT} after {@code timeout}. Receives may be posted at once.
   */
  QueuePair connect(String address, MemorySegment privateData, Duration timeout);

  /** The longest SEND, bytes; at least 4096. */
  int messageBytesMax();

  /** Whether READs go on after the peer's process ended (shared memory). */
  boolean readsOutlivePeer();

  /**
   * Sleeps until an armed queue pair has a completion, a listener has a request, {@link #wakeup()}
   * is called, or the time passes. Returns false when nothing but the time ended it. An interrupt
   * does not: it stays set. For a thread that serves many queue pairs: arm all of them, poll once
   * more, then sleep.
   */
  boolean await(long timeoutNs);

  /** Ends an {@link #await} of the device's thread, now or the next one. From any thread. */
  void wakeup();

  /**
   * How many peers may still be in the middle of a WRITE that no open queue pair of this device
   * stands for, because what they store can't be revoked (shared memory): of a connection that was
   * closed here, or of an earlier server's, as long as they did not provably leave. None where the
   * device itself ends what a closed queue pair had posted. May cost a system call each.
   */
  default int strangers() {
    return 0;
  }

  /** What its queue pairs have moved so far. */
  DeviceStatistics statistics();

  @Override
  void close();
}
