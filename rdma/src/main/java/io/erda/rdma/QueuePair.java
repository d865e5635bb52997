package io.erda.rdma;

import java.lang.foreign.MemorySegment;

/**
 * A reliable connection. Belongs to one thread.
 *
 * <p>A post returns false when the queue is full: poll, then post again. A device may begin with
 * what was posted at the next poll or arm. Posted work reads its local memory until it completes.
 * Local memory is a region of the same device. After {@link Opcode#DISCONNECT} was reported
 * everything completes in error, except that READs still work on a device whose {@link
 * Device#readsOutlivePeer()} is true. Closing makes outstanding work complete in error with nobody
 * to hear it.
 *
 * <p>{@link #claims} tells which messages take effect when an end has gone.
 */
public interface QueuePair extends AutoCloseable {
  /**
   * Posts work. The device has read all that it needs of the {@link Work} when this returns, and
   * keeps none of it: it may be changed and posted again at once. The local memory that it names is
   * another matter: that is used until the work completes.
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
   * @return whether the bytes are there; false, for whatever reason, says nothing about the local
   *     memory: post the READ, and its completion tells
   */
  default boolean readNow(Work read) {
    return false;
  }

  /**
   * Says which places are READ in the call next, {@code length} bytes at each. A device whose READs
   * are loads of the caller may bring them near, all at once, so that the READs don't wait for
   * memory one after the other. It is no READ: it tells nothing, whatever is there, and counts as
   * nothing.
   *
   * @param remoteKeys {@code count} of them
   * @param remoteOffsets one for each
   */
  default void readSoon(long[] remoteKeys, long[] remoteOffsets, int length, int count) {}

  /**
   * A responder lets this peer, and no other, WRITE to a range of a region that it may otherwise
   * only READ, until {@link #revoke} or the end of the connection. Hardware binds a memory window
   * to the queue pair for it. Offsets under the key count from the beginning of the region, as
   * under the region's own.
   *
   * @return the remote key to WRITE with; the region's own where {@link Device#limitsWrites()} is
   *     false
   */
  default long grant(MemoryRegion region, long offset, long length) {
    return region.remoteKey();
  }

  /**
   * Ends what {@link #grant} gave; a key that it did not give is none of this queue pair's and
   * stays. A WRITE that the device is in the middle of may still land; what begins later is
   * refused.
   */
  default void revoke(long grantedKey) {}

  /**
   * Offers a buffer for one message of the peer's.
   *
   * @return false when as many wait as there is room for
   */
  boolean postReceive(long wrId, MemoryRegion local, long localOffset, int length);

  /**
   * Reports at most {@code limit} completions. Returns how many. Does not block, and is cheap when
   * there is nothing.
   */
  int poll(CompletionHandler handler, int limit);

  /**
   * Asks to be woken for the next completion. Returns false when one may be there already: poll
   * again instead of sleeping.
   */
  boolean arm();

  /**
   * Sleeps until something completes or the time passes; {@link #arm()} first, and all others of
   * the same device that were accepted. Returns false when the time passed. An interrupt does not
   * end it: it stays set. The simulator never calls it.
   */
  boolean await(long timeoutNs);

  /**
   * The caller names a remote key no more: releases what reaching its region took, a mapping for
   * example. Nothing that names it may be outstanding.
   */
  default void forget(long remoteKey) {}

  /**
   * Whether the region of a remote key is still what its owner would find under its name. False
   * when it was deleted, or another one was put in its place, while nobody was there to revoke the
   * key. May cost a system call.
   */
  default boolean isCurrent(long remoteKey) {
    return true;
  }

  /** Which messages take effect when an end of the connection has gone. */
  Claims claims();

  /**
   * To be asked after a {@link io.erda.pmem.MemoryFault} by one who does not know whose memory it
   * was that went away: whether the peer took away what both ends share. Then the connection is
   * broken, and no call of this queue pair meets that fault again. Costs a system call.
   */
  default boolean isMemoryLost() {
    return false;
  }

  /**
   * Whose memory was gone when the last READ or WRITE ended with {@link Status#MEMORY_LOST}, and
   * how, for messages.
   */
  default String lostRegion() {
    return "";
  }

  /**
   * Why this process could not open the file of the region that a READ or WRITE tried to reach
   * last, for messages: the file and the error. Empty where it could, and where nobody knows.
   */
  default String unreached() {
    return "";
  }

  /**
   * What the peer sent with its acceptance or refusal; empty before {@link Opcode#CONNECT}. Bytes
   * from outside: not trusted.
   */
  MemorySegment privateData();

  /** Who the peer is, for messages. */
  String peer();

  /**
   * Why the connection was not made or ended, for messages, where the device knows more than its
   * status says; empty otherwise.
   */
  default String failure() {
    return "";
  }

  /** Ends the connection. Idempotent. */
  @Override
  void close();
}
