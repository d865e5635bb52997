package io.erda.rdma;

import java.lang.foreign.MemorySegment;

/**
 * A reliable connection. Belongs to one thread.
 *
 * <p>A post returns false when the queue is full: poll, then post again. A device may begin posted
 * work only at the next poll or arm. Posted work reads its local memory until it completes. Local
 * memory is a region of the same device. After {@link Opcode#DISCONNECT} was reported everything
 * completes in error, except that READs still work on a device whose {@link
 * Device#readsOutlivePeer()} is true. Closing ends outstanding work in error, without a completion.
 *
 * <p>{@link #claims} tells which messages take effect when an end is gone.
 */
public interface QueuePair extends AutoCloseable {
  /**
   * Posts work. The device keeps no reference to the {@link Work}: it may be changed and posted
   * again as soon as this returns. The local memory is used until the work completes.
   *
   * @return false when the queue is full; nothing was posted then
   * @throws IllegalArgumentException when the local memory is no region of this device, or a
   *     message is longer than {@link Device#messageBytesMax()}
   * @throws IndexOutOfBoundsException when the local memory does not lie in its region
   * @throws IllegalStateException when the queue pair is closed
   */
  boolean post(Work work);

  /**
   * READs in the call itself, where the device's READs are loads of the caller: no completion
   * follows. Executes after all READs posted before.
   *
   * @param read a READ; its ID and flags are not used
   * @return whether the bytes are there; when false, for whatever reason, the local memory may hold
   *     anything: post the READ, whose completion tells the reason
   */
  default boolean readNow(Work read) {
    return false;
  }

  /**
   * Says which places are READ in the call next, {@code length} bytes at each. A device whose READs
   * are loads of the caller may bring them into the cache, all at once, so that the READs don't
   * wait for memory one after the other. It is no READ: it reports no error, and is not counted.
   *
   * @param remoteKeys {@code count} of them
   * @param remoteOffsets one for each
   */
  default void readSoon(long[] remoteKeys, long[] remoteOffsets, int length, int count) {}

  /**
   * Lets this peer, and no other, WRITE to a range of a region of this responder that it may
   * otherwise only READ, until {@link #revoke} or the end of the connection. Hardware binds a
   * memory window to the queue pair for it. Offsets under the key count from the beginning of the
   * region.
   *
   * @return the remote key to WRITE with; the region's own where {@link Device#limitsWrites()} is
   *     false
   */
  default long grant(MemoryRegion region, long offset, long length) {
    return region.remoteKey();
  }

  /**
   * Ends a {@link #grant}; has no effect on a key that was not granted on this queue pair. A WRITE
   * that the device is in the middle of may still land; later ones are refused.
   */
  default void revoke(long grantedKey) {}

  /**
   * Offers a buffer for one message of the peer.
   *
   * @return false when there is no room for another
   */
  boolean postReceive(long wrId, MemoryRegion local, long localOffset, int length);

  /**
   * Reports at most {@code limit} completions. Returns how many. Does not block, and is cheap when
   * there is nothing.
   */
  int poll(CompletionHandler handler, int limit);

  /**
   * Asks to be woken for the next completion. Returns false when one may be there: poll again
   * instead of sleeping.
   */
  boolean arm();

  /**
   * Sleeps until something completes or the time passes. The caller first calls {@link #arm()} on
   * this queue pair, and on all others that the same device accepted. Returns false when the time
   * passed. An interrupt does not end the sleep, and stays set. The simulator never calls this.
   */
  boolean await(long timeoutNs);

  /**
   * Releases the resources for reaching the region of a remote key, a mapping for example: the
   * caller names the key no more. REQUIRES: no work that names it is outstanding.
   */
  default void forget(long remoteKey) {}

  /**
   * Whether the name of a region's file still leads to the same file. False when the file was
   * deleted or replaced while no server was there to revoke the key. May cost a system call.
   */
  default boolean isCurrent(long remoteKey) {
    return true;
  }

  /** The claims of this connection's messages. */
  Claims claims();

  /**
   * Whether the memory that both ends share went away. To be called after a {@link
   * io.erda.pmem.MemoryFault} of unknown memory. When true, the connection is broken, and no call
   * of this queue pair meets that fault again. Costs a system call.
   */
  default boolean isMemoryLost() {
    return false;
  }

  /**
   * The memory that was missing when the last READ or WRITE ended with {@link Status#MEMORY_LOST},
   * and why, for messages.
   */
  default String lostRegion() {
    return "";
  }

  /**
   * Why this process could not open the file of the region that a READ or WRITE tried to reach
   * last, for messages: the file and the error. Empty where it could, or where that is unknown.
   */
  default String unreached() {
    return "";
  }

  /**
   * The private data of the peer's acceptance or refusal; empty before {@link Opcode#CONNECT}. Not
   * trusted.
   */
  MemorySegment privateData();

  /** The peer in words, for messages. */
  String peer();

  /**
   * Why the connection was not made or ended, for messages, where the device knows more than the
   * status says; empty otherwise.
   */
  default String failure() {
    return "";
  }

  /** Ends the connection. Idempotent. */
  @Override
  void close();
}
