package io.erda.client.connections;

import io.erda.hashtable.KeyHash;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Handshake.Welcome;
import io.erda.protocol.Protocol;
import java.lang.foreign.MemorySegment;
import java.util.UUID;

/**
 * The client's knowledge of its store. It is empty before the first connection; later it has the
 * store's constants, and the limits of the newest welcome.
 */
public final class KnownStore {
  private UUID id;
  private Welcome welcome;

  /**
   * The hash of keys; null before the first connection, and constant afterwards, as the number of
   * heads is.
   */
  public KeyHash keyHash;

  public int heads;

  /** Takes the constants and limits of a welcome that is sound and names this store. */
  void learn(Welcome said) {
    if (id == null) {
      id = said.store();
      heads = said.heads();
      keyHash = new KeyHash(said.hashSeed());
    }
    welcome = said;
  }

  /** Null before the first connection. */
  UUID id() {
    return id;
  }

  /** The welcome of the newest connection; null before the first. */
  public Welcome welcome() {
    return welcome;
  }

  /**
   * Checks the length of a key.
   *
   * @throws ErdaException.BadSize when the key is empty or longer than the store takes
   */
  public void requireKey(long length) {
    ErdaException bad = unfitKey(length);
    if (bad != null) {
      throw bad;
    }
  }

  /** Returns an exception when the length of a key is not allowed; otherwise null. */
  public ErdaException unfitKey(long length) {
    int max = welcome == null ? Protocol.KEY_BYTES_MAX : welcome.keyBytesMax();
    return length < 1 || length > max ? badKey(length, max) : null;
  }

  /**
   * Checks the length of a value.
   *
   * @throws ErdaException.BadSize when the value is longer than the store takes
   */
  public void requireValue(long keyLength, long length) {
    ErdaException bad = unfitValue(keyLength, length);
    if (bad != null) {
      throw bad;
    }
  }

  /** Returns an exception when the length of a value is not allowed; otherwise null. */
  public ErdaException unfitValue(long keyLength, long length) {
    long max = welcome == null ? ObjectLayout.VALUE_BYTES_MAX : valueBytesMax(keyLength);
    return length > max ? badValue(length, max) : null;
  }

  /** Whether the store can hold this value under this key, by their lengths. */
  public boolean canHave(MemorySegment key, MemorySegment value) {
    return unfitValue(key.byteSize(), value.byteSize()) == null;
  }

  /**
   * Checks the lengths of a put that was submitted before the first connection. Returns an
   * exception when they are not allowed; otherwise null.
   */
  public ErdaException unfit(int keyLength, int valueLength) {
    if (keyLength > welcome.keyBytesMax()) {
      return badKey(keyLength, welcome.keyBytesMax());
    }
    return valueLength > valueBytesMax(keyLength)
        ? badValue(valueLength, valueBytesMax(keyLength))
        : null;
  }

  public static ErdaException.BadSize badKey(long length, int max) {
    return new ErdaException.BadSize("key of " + length + " bytes; this store takes 1 to " + max);
  }

  private static ErdaException.BadSize badValue(long length, long max) {
    return new ErdaException.BadSize(
        "value of " + length + " bytes; this store takes 0 to " + max + " with this key");
  }

  /**
   * The longest value for a key of this length: the server's limit, or less if a segment that
   * begins with a region's header has no room for it.
   */
  public long valueBytesMax(long keyLength) {
    long room =
        welcome.segmentBytes() - Region.HEADER_BYTES - ObjectLayout.HEADER_BYTES - keyLength;
    // Padding needs no extra room, because the room for an object in a segment is a multiple of the
    // alignment.
    return Math.min(welcome.valueBytesMax(), room);
  }
}
