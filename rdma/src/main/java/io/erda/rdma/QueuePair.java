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
 * <p><b>Messages at the end.</b> A responder that acts on messages calls {@link #claim()} before
 * any of them takes effect, and {@link #settle()} after. A requester that gives up calls {@link
 * #withdraw()} and learns what of its messages was claimed. Messages are numbered from 1 in the
 * order posted; those that were not claimed never take effect.
 */
public interface QueuePair extends AutoCloseable {
  /** READs {@code length} bytes at {@code remoteOffset} of the peer's region into local memory. */
  boolean postRead(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int flags);

  /**
   * READs in the call itself, where the device's READs are loads of the caller: no completion
   * follows. Executes after all READs posted before.
   *
   * @return whether the bytes are there; false, for whatever reason, says nothing about the local
   *     memory: post the READ, and its completion tells
   */
  default boolean readNow(
      MemoryRegion local, long localOffset, long remoteKey, long remoteOffset, int length) {
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

  /** WRITEs local memory into the peer's region. */
  boolean postWrite(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int flags);

  /**
   * WRITEs, then consumes a receive of the peer's, which sees {@code imm}. A peer with whom this
   * was not agreed ends the connection: its receive is gone, and no message came.
   */
  boolean postWriteImm(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int imm,
      int flags);

  /** SENDs local memory into a receive of the peer's; at most {@link Device#messageBytesMax()}. */
  boolean postSend(long wrId, MemoryRegion local, long localOffset, int length, int flags);

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

  /** Offers a receive buffer. */
  boolean postReceive(long wrId, MemoryRegion local, long localOffset, int length);

  /**
   * Flushes the peer's region range to its persistence domain, behind all posted before. Completes
   * with {@link Status#UNSUPPORTED} where {@link Device#flushes()} is false.
   */
  boolean postFlush(long wrId, long remoteKey, long remoteOffset, int length, int flags);

  /** Stores one 8-aligned word, after all posted before. Every device can. */
  boolean postAtomicWrite(long wrId, long remoteKey, long remoteOffset, long value, int flags);

  /**
   * Compares and swaps one 8-aligned word; the old value lands in local memory. Every device can.
   */
  boolean postCompareAndSwap(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      long expected,
      long value,
      int flags);

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

  /** A requester asks for the number of the message that it posted last; 0 before the first. */
  default long sent() {
    return 0;
  }

  /**
   * A responder claims all that it received, before anything of it takes effect. Returns false when
   * the requester withdrew, closed or is known to have died; then nothing of it may take effect. A
   * device that can't tell exactly says what it knows, and its requesters say so in {@link
   * #claimed()}.
   */
  default boolean claim() {
    return true;
  }

  /** Whether {@link #claim()} would find the requester there; claims nothing, and is cheap. */
  default boolean isPeerThere() {
    return true;
  }

  /**
   * A responder says that what it claimed has taken effect or never will, and that the answers were
   * posted.
   */
  default void settle() {}

  /**
   * A requester takes back whatever the responder did not claim. Work that is posted from now on
   * completes in error, and READs behave as after the peer's end. Answers still arrive. Idempotent;
   * {@link #close()} does it too.
   */
  default void withdraw() {}

  /**
   * A requester that withdrew asks for the number of the last message that may take effect; {@link
   * Long#MAX_VALUE} where the device can't know. A device that has to ask the other end says so
   * too, until a poll has heard the answer.
   */
  default long claimed() {
    return Long.MAX_VALUE;
  }

  /**
   * A requester asks for the number of the last message that the responder is through with. What it
   * answered has arrived when this says so, as far as there was room for answers.
   */
  default long settled() {
    return 0;
  }

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
