package io.erda.client;

import io.erda.client.calls.BlockingCalls;
import io.erda.client.calls.Confinement;
import io.erda.client.iteration.Scan;
import io.erda.client.operations.CallersMemory;
import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * An iteration over the keys of a store, with their values, in no particular order; see {@link
 * ErdaClient#keys()}.
 *
 * <p><b>Guarantees.</b> A key that has a value from before the iteration begins until after it has
 * ended is returned exactly once. A key that gets or loses its value during the iteration is
 * returned once or not at all. No key is returned twice. The value that is returned with a key is
 * one that the key had at some time during the iteration. The values of two keys may be of
 * different times, so this is no snapshot. These guarantees hold while other clients put and
 * delete, while the table doubles and the log is cleaned, and when the server is restarted during
 * the iteration.
 *
 * <p><b>Costs.</b> The cursor READs the hash table, 16 to 64 bytes for each key depending on how
 * full the table is, and every object whole, because the object's checksum shows whether the key is
 * right. It uses about 200 KiB of memory, or more when an object is longer; its client keeps that
 * memory for the next cursor. Any time may pass between two keys.
 *
 * <p>A cursor belongs to its client and to the client's thread, and may be used as long as the
 * client is open.
 */
public final class KeyCursor implements AutoCloseable {
  private enum State {
    /** No key is current: before the first one, and after an error. */
    BETWEEN,
    AT_KEY,
    AT_END,
    CLOSED
  }

  private final Scan scan;
  private final BlockingCalls calls;
  private final Confinement confinement;
  private State state = State.BETWEEN;

  /** REQUIRES: the client is entered, no other cursor of it is open, and the scan is rewound. */
  KeyCursor(Scan scan, BlockingCalls calls, Confinement confinement) {
    this.scan = scan;
    this.calls = calls;
    this.confinement = confinement;
  }

  /**
   * Whether the cursor may still come to a key. A cursor at its end does not prevent another one.
   */
  boolean isOpen() {
    return state != State.CLOSED && state != State.AT_END;
  }

  /**
   * Moves to the next key. Returns false at the end, and always after that.
   *
   * <p>After an error it may be called again, and goes on where it stopped, so that no key is lost.
   *
   * @throws ErdaException.Damaged when the object of a key has other bytes than were written. The
   *     key is unknown; the message states the place of the object. The next call skips the object
   * @throws ErdaException.Unavailable when there is no server, or no answer, for {@link
   *     ClientOptions#operationTimeout()}
   * @throws ErdaException.Refused when another store is there now
   * @throws ErdaException.Unusable when a file of the store can't be read from here
   * @throws IllegalStateException when the cursor or its client is closed
   */
  public boolean next() {
    confinement.enter();
    try {
      requireOpen();
      if (state != State.AT_END) {
        state = State.BETWEEN;
        calls.next(scan);
        state = scan.keyLength == Scan.END ? State.AT_END : State.AT_KEY;
      }
      return state == State.AT_KEY;
    } finally {
      confinement.leave();
    }
  }

  /**
   * The current key.
   *
   * @throws IllegalStateException when there is none
   */
  public byte[] key() {
    confinement.enter();
    try {
      requireKey();
      return scan.key().toArray(ValueLayout.JAVA_BYTE);
    } finally {
      confinement.leave();
    }
  }

  /**
   * The value of the current key.
   *
   * @throws IllegalStateException when there is none
   */
  public byte[] value() {
    confinement.enter();
    try {
      requireKey();
      return scan.value().toArray(ValueLayout.JAVA_BYTE);
    } finally {
      confinement.leave();
    }
  }

  /**
   * Copies the current key to the beginning of {@code into}.
   *
   * @return its length, bytes; when it is more than {@code into.byteSize()} nothing was copied
   * @throws IllegalStateException when there is none
   */
  public long key(MemorySegment into) {
    confinement.enter();
    try {
      requireKey();
      return copy(scan.key(), into, "the segment for the key");
    } finally {
      confinement.leave();
    }
  }

  /**
   * Copies the value of the current key to the beginning of {@code into}.
   *
   * @return its length, bytes; when it is more than {@code into.byteSize()} nothing was copied
   * @throws IllegalStateException when there is none
   */
  public long value(MemorySegment into) {
    confinement.enter();
    try {
      requireKey();
      return copy(scan.value(), into, "the segment for the value");
    } finally {
      confinement.leave();
    }
  }

  private static long copy(MemorySegment from, MemorySegment into, String what) {
    CallersMemory.requireWritable(into, what);
    if (from.byteSize() <= into.byteSize()) {
      CallersMemory.copy(from, 0, into, from.byteSize(), what);
    }
    return from.byteSize();
  }

  private void requireKey() {
    requireOpen();
    if (state != State.AT_KEY) {
      throw new IllegalStateException("the cursor has come to no key");
    }
  }

  private void requireOpen() {
    if (state == State.CLOSED) {
      throw new IllegalStateException("the cursor is closed");
    }
  }

  /**
   * Ends the iteration. The client may then begin another iteration, as it may when the cursor is
   * at its end. Idempotent. Only the client's thread may call it.
   */
  @Override
  public void close() {
    state = State.CLOSED;
  }
}
