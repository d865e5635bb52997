package io.erda.rdma;

import io.erda.pmem.Backing;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * A device that moves bytes between processes without their help: an RDMA NIC, shared memory, a
 * software RNIC, a simulated one.
 *
 * <p>A device and all that it makes belong to one thread, except {@link #wakeup()}. The creator
 * closes queue pairs, then regions, then the device.
 */
public interface Device extends AutoCloseable {
  /** The longest private data of a connection, bytes. */
  int PRIVATE_DATA_MAX = 192;

  /**
   * Registers memory.
   *
   * @param memory the bytes; must stay valid until {@link #deregister}
   * @param backing the file that another process maps; {@link Backing#none} for local use
   * @param access of {@link Access}
   * @throws IllegalStateException when the device can't; the message gives a user the reason
   */
  MemoryRegion register(MemorySegment memory, Backing backing, int access);

  /**
   * Registers persistent memory. Where the device {@link #flushes()}, peers may ask for its range
   * to be flushed and drained.
   */
  default MemoryRegion register(PersistentMemory memory, int access) {
    return register(memory.segment(), memory.backing(), access);
  }

  /** Ends a registration: from now on its remote key is refused. */
  void deregister(MemoryRegion region);

  /**
   * Takes the address that a later {@link #listen} is called with, so that the process may give up
   * rights in between. Peers wait. Does nothing on a device that can't.
   *
   * @throws IOException when the address can't be taken
   */
  default void bind(String address) throws IOException {}

  /**
   * Listens at an address of this device's form.
   *
   * @throws IOException when the address can't be taken
   */
  Listener listen(String address) throws IOException;

  /**
   * As {@link #listen(String)}, and tells what the {@link Listener} does not.
   *
   * @param refusals is told of the peers that this device refuses by itself; of none by a device
   *     whose listener decides about all peers
   * @param failures gets the error that ended a thread of the device, in that thread: peers are not
   *     answered any more then. Gets none from a device without threads
   */
  default Listener listen(String address, RefusalListener refusals, Consumer<Throwable> failures)
      throws IOException {
    return listen(address);
  }

  /**
   * Starts to connect; the queue pair reports {@link Opcode#CONNECT} when it is decided, {@link
   * Status#TIMEOUT} after {@code timeout}. Receives may be posted at once. On a device without a
   * thread of its own it goes on while the queue pair is polled.
   */
  QueuePair connect(String address, MemorySegment privateData, Duration timeout);

  /** The longest SEND, bytes; at least 4096. */
  int messageBytesMax();

  /** Whether READs go on after the peer's process ended (shared memory). */
  boolean readsOutlivePeer();

  /** Whether queue pairs that this device connects READ in the call: {@link QueuePair#readNow}. */
  default boolean readsNow() {
    return false;
  }

  /**
   * Whether nothing can be changed through the queue pairs that this device connects: every work
   * but READ and SEND completes with {@link Status#UNSUPPORTED}, and no SEND has an effect on what
   * is READ.
   */
  default boolean readsOnly() {
    return false;
  }

  /**
   * Whether {@link Work#flush FLUSH} works on the queue pairs that this device connects: the
   * responder flushes and drains, as its {@link PersistentMemory} does it, before the work
   * completes. Hardware refuses, as {@link Status#REMOTE_ACCESS}, a region that it can't make
   * durable (files that are synchronised). Where false, FLUSH completes with {@link
   * Status#UNSUPPORTED}, and the responder has to be asked by a message.
   */
  default boolean flushes() {
    return false;
  }

  /**
   * Whether {@link QueuePair#grant} lets one peer WRITE to a range of a region that it may
   * otherwise only READ. Where false, memory that one peer is to WRITE must be registered for all
   * peers to WRITE.
   */
  default boolean limitsWrites() {
    return false;
  }

  /**
   * Sleeps until an armed queue pair has a completion, a listener has a request, {@link #wakeup()}
   * is called, or the time passes. Returns false when only the time ended it. An interrupt does not
   * end it, and stays set. For a thread that serves many queue pairs: arm all of them, poll once
   * more, then sleep.
   */
  boolean await(long timeoutNs);

  /** Ends the present or the next {@link #await} of the device's thread. From any thread. */
  void wakeup();

  /**
   * For a thread that serves several devices and sleeps on another one: from now on each event that
   * ends an {@link #await} of this device also calls {@code wakeup}, from any thread. Queue pairs
   * are armed as for an await.
   *
   * @return false where the device can't: then the thread has to sleep on this device
   */
  default boolean forwardWakeups(Runnable wakeup) {
    return false;
  }

  /**
   * How many peers without an open queue pair of this device may still be in the middle of a WRITE,
   * because their stores can't be revoked (shared memory): peers of connections that were closed
   * here, or of an earlier server, that did not provably leave. None where the device itself ends
   * the work of a closed queue pair. May cost a system call each.
   */
  default int strangers() {
    return 0;
  }

  /**
   * Figures of this device alone, by name, for {@code stats}. Any thread may read one as long as
   * the device is open.
   */
  default Map<String, LongSupplier> figures() {
    return Map.of();
  }

  /** The bytes and messages that its queue pairs have moved so far. */
  DeviceStatistics statistics();

  @Override
  void close();
}
