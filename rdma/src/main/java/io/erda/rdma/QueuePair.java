package io.erda.rdma;

import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;

/**
 * A reliable connection. Belongs to one thread.
 *
 * <p>A post returns false when the queue is full; then poll, and post again. A device may delay the
 * begin of posted work until the next poll or arm. Posted work uses its local memory until it
 * completes. Local memory is a region of the same device. After {@link Opcode#DISCONNECT} was
 * reported all work completes with an error, except that READs still work on a device whose {@link
 * Device#readsOutlivePeer()} is true. Closing ends outstanding work without a completion.
 *
 * <p>{@link #claims} decides which messages take effect when one end has ended.
 */
public interface QueuePair extends AutoCloseable {
  /**
   * Posts work. The device keeps no reference to the {@link Work}: the caller may change it and
   * post it again as soon as this returns. The local memory is used until the work completes.
   *
   * @return false when the queue is full; then nothing was posted
   * @throws IllegalArgumentException when the local memory is no region of this device, or a
   *     message is longer than {@link Device#messageBytesMax()}
   * @throws IndexOutOfBoundsException when the local memory does not lie in its region
   * @throws IllegalStateException when the queue pair is closed
   */
  boolean post(Work work);

  /**
   * READs within this call, if the device's READs are loads by the calling thread. No completion
   * follows. Executes after all READs that were posted before.
   *
   * @param read a READ; its ID and flags are not used
   * @return whether the READ succeeded. When it is false the local memory may hold anything; post
   *     the READ, and its completion reports the reason
   */
  default boolean readNow(Work read) {
    return false;
  }

  /**
   * Announces the places of the next calls of {@link #readNow}, {@code length} bytes at each. A
   * device whose READs are loads by the calling thread may load all these places into the cache
   * together, so that the READs do not wait for memory one after the other. This is no READ: it
   * reports no error, and is not counted.
   *
   * @param remoteKeys the remote keys of {@code count} places
   * @param remoteOffsets the offset of each place
   */
  default void readSoon(long[] remoteKeys, long[] remoteOffsets, int length, int count) {}

  /**
   * Permits only this peer to WRITE to a range of a region of this responder that it may otherwise
   * only READ, until {@link #revoke} or the end of the connection. Hardware binds a memory window
   * to the queue pair for this. Offsets under the key count from the beginning of the region.
   *
   * @return the remote key for such WRITEs; it is the region's remote key when {@link
   *     Device#limitsWrites()} is false
   */
  default long grant(MemoryRegion region, long offset, long length) {
    return region.remoteKey();
  }

  /**
   * Ends a {@link #grant}. It has no effect on a key that was not granted on this queue pair. A
   * WRITE that the device has begun may still land; later WRITEs are refused.
   */
  default void revoke(long grantedKey) {}

  /**
   * Posts a buffer for one message of the peer.
   *
   * @return false when there is no room for another buffer
   */
  boolean postReceive(long wrId, MemoryRegion local, long localOffset, int length);

  /**
   * Reports at most {@code limit} completions. Returns how many were reported. Does not block, and
   * is cheap when there is none.
   */
  int poll(CompletionHandler handler, int limit);

  /**
   * Whether a poll may report something. Changes nothing, and is cheap. May be true although there
   * is nothing.
   */
  default boolean mayComplete() {
    return true;
  }

  /**
   * Returns the bytes of a region of the peer, for loads and stores by the calling thread, on a
   * device whose READs and WRITEs are that. The caller guards them (pmem's {@code MemoryGuard}),
   * and uses them only as long as it knows that the remote key is valid and the queue pair open.
   *
   * @param toStore whether the caller stores there
   * @return null when the region can't be accessed in this way
   */
  default MemorySegment memory(long remoteKey, boolean toStore) {
    return null;
  }

  /**
   * Returns what to call between two accesses of {@link #memory}, with a number that names the
   * place. It does nothing, but in a simulation others go on there.
   */
  default IntConsumer between() {
    return _ -> {};
  }

  /**
   * Makes the next completion wake the thread. Returns false when there may be a completion
   * already; then poll again instead of sleeping.
   */
  boolean arm();

  /**
   * Sets an action for the thread that brings messages of the peer, on a device that has such a
   * thread. The thread calls it, instead of waking the owner, when a message has come while this
   * queue pair was armed. The action may then use the queue pair, if the owner does not. It returns
   * false when the owner must be woken all the same, and throws nothing.
   *
   * @return whether the device has such a thread
   */
  default boolean onArrival(BooleanSupplier action) {
    return false;
  }

  /**
   * Sleeps until something completes or the time passes. The caller first calls {@link #arm()} on
   * this queue pair, and on all others that the same device accepted. Returns false when the time
   * passed. An interrupt does not end the sleep, and stays set. The simulator never calls this.
   */
  boolean await(long timeoutNs);

  /**
   * Releases the resources for accessing the region of a remote key, for example a mapping, because
   * the caller no longer uses the key. REQUIRES: no work with this key is outstanding.
   */
  default void forget(long remoteKey) {}

  /**
   * Whether the name of a region's file still leads to the same file. False when the file was
   * deleted or replaced while no server ran that could revoke the key. May cost a system call.
   */
  default boolean isCurrent(long remoteKey) {
    return true;
  }

  /** The claims of this connection's messages. */
  Claims claims();

  /**
   * Whether pages of the memory that both ends share are missing. Call it after a {@link
   * io.erda.pmem.MemoryFault} of unknown memory. When it is true, the connection has ended, and no
   * call of this queue pair meets that fault again. Costs a system call.
   */
  default boolean isMemoryLost() {
    return false;
  }

  /**
   * Returns, for messages, the memory that was missing when a READ or WRITE last ended with {@link
   * Status#MEMORY_LOST}, and the reason.
   */
  default String lostRegion() {
    return "";
  }

  /**
   * Returns, for messages, the file and the error when this process could not open the file of the
   * region that a READ or WRITE last tried to access. Empty when it could, or when that is unknown.
   */
  default String unreached() {
    return "";
  }

  /**
   * Returns the private data of the peer's acceptance or refusal; empty before {@link
   * Opcode#CONNECT}. It comes from the peer and must be checked.
   */
  MemorySegment privateData();

  /** The peer in words, for messages. */
  String peer();

  /**
   * Returns, for messages, why the connection was not made or has ended, if the device knows more
   * than the status says; otherwise empty.
   */
  default String failure() {
    return "";
  }

  /** Ends the connection. Idempotent. */
  @Override
  void close();
}
