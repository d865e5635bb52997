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
 * A device that moves bytes between processes without work of the process that owns the memory: an
 * RDMA NIC, shared memory, a software RNIC, or a simulated RNIC.
 *
 * <p>A device and all objects that it makes belong to one thread, except {@link #wakeup()}. The
 * creator closes queue pairs, then regions, then the device.
 */
public interface Device extends AutoCloseable {
  /** The longest private data of a connection, bytes. */
  int PRIVATE_DATA_MAX = 192;

  /**
   * Registers memory.
   *
   * @param memory the memory, which must stay valid until {@link #deregister}
   * @param backing the file that another process maps; {@link Backing#none} for local use
   * @param access flags of {@link Access}
   * @throws IllegalStateException when the device can't register the memory; the message states the
   *     reason for a user
   */
  MemoryRegion register(MemorySegment memory, Backing backing, int access);

  /**
   * Registers persistent memory. If the device {@link #flushes()}, peers can have ranges of it
   * flushed and drained.
   */
  default MemoryRegion register(PersistentMemory memory, int access) {
    return register(memory.segment(), memory.backing(), access);
  }

  /** Ends a registration. From now on its remote key is refused. */
  void deregister(MemoryRegion region);

  /**
   * Takes the address that a later {@link #listen} is called with, so that the process may give up
   * rights in between. Peers wait. Does nothing on a device that can't.
   *
   * @throws IOException when the address can't be taken
   */
  default void bind(String address) throws IOException {}

  /**
   * Listens at an address in the form of this device.
   *
   * @throws IOException when the address can't be taken
   */
  Listener listen(String address) throws IOException;

  /**
   * Listens as {@link #listen(String)} does, and reports refused peers and failed threads, which
   * the {@link Listener} does not report.
   *
   * @param refusals receives the peers that this device refuses by itself; none from a device whose
   *     {@link Listener} decides about all peers
   * @param failures receives an error that ends a thread of the device, in that thread; from then
   *     on peers are not answered any more. Receives none from a device without threads
   */
  default Listener listen(String address, RefusalListener refusals, Consumer<Throwable> failures)
      throws IOException {
    return listen(address);
  }

  /**
   * Starts to connect. The queue pair reports {@link Opcode#CONNECT} when the attempt has ended,
   * with {@link Status#TIMEOUT} after {@code timeout}. Receives may be posted at once. On a device
   * without a thread of its own the attempt makes progress only while the queue pair is polled.
   */
  QueuePair connect(String address, MemorySegment privateData, Duration timeout);

  /** The longest SEND, bytes; at least 4096. */
  int messageBytesMax();

  /** Whether READs still work after the peer's process has ended (shared memory). */
  boolean readsOutlivePeer();

  /**
   * Whether queue pairs that this device connects can READ within a call: {@link
   * QueuePair#readNow}.
   */
  default boolean readsNow() {
    return false;
  }

  /**
   * Whether the queue pairs that this device connects can change nothing: all work except READ and
   * SEND completes with {@link Status#UNSUPPORTED}, and no SEND has an effect on memory that is
   * READ.
   */
  default boolean readsOnly() {
    return false;
  }

  /**
   * Whether {@link Work#flush FLUSH} works on the queue pairs that this device connects: the
   * responder flushes and drains, as its {@link PersistentMemory} does, before the work completes.
   * Hardware refuses a region that it can't make durable (files that are synchronised) with {@link
   * Status#REMOTE_ACCESS}. When this is false, FLUSH completes with {@link Status#UNSUPPORTED}, and
   * a requester has to send the responder a message instead.
   */
  default boolean flushes() {
    return false;
  }

  /**
   * Whether {@link QueuePair#grant} can permit one peer to WRITE to a range of a region that it may
   * otherwise only READ. When this is false, memory to which one peer has to WRITE must be
   * registered so that all peers may WRITE to it.
   */
  default boolean limitsWrites() {
    return false;
  }

  /**
   * Sleeps until an armed queue pair has a completion, a listener has a request, {@link #wakeup()}
   * is called, or the time passes. Returns false when the time has passed without such an event. An
   * interrupt does not end the sleep, and stays set. A thread that serves many queue pairs first
   * arms all of them, polls once more, and then sleeps.
   */
  boolean await(long timeoutNs);

  /** Ends the present or the next {@link #await} of the device's thread. Any thread may call it. */
  void wakeup();

  /**
   * For a thread that serves several devices and sleeps on another device: from now on each event
   * that would end an {@link #await} of this device also calls {@code wakeup}, from any thread. The
   * queue pairs must be armed as for an await.
   *
   * @return false when the device can't do this; then the thread has to sleep on this device
   */
  default boolean forwardWakeups(Runnable wakeup) {
    return false;
  }

  /**
   * Returns the number of <em>strangers</em>: peers without an open queue pair of this device that
   * may still be in the middle of a WRITE, because their stores can't be revoked (shared memory).
   * These are peers of connections that were closed here, or of an earlier server, unless they have
   * provably left. The number is 0 when the device itself ends the work of a closed queue pair. May
   * cost a system call for each stranger.
   */
  default int strangers() {
    return 0;
  }

  /**
   * Returns the figures that only this kind of device has, by name, for {@code stats}. Any thread
   * may read a figure as long as the device is open.
   */
  default Map<String, LongSupplier> figures() {
    return Map.of();
  }

  /** The bytes and messages that its queue pairs have moved so far. */
  DeviceStatistics statistics();

  @Override
  void close();
}
