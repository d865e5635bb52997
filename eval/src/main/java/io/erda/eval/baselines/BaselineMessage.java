package io.erda.eval.baselines;

import io.erda.logstore.ObjectLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The messages between client and server. Little-endian, 8-aligned.
 *
 * <pre>
 *  request   0  type 4 | 0 4        response   0  type 4 | result 4
 *            8  request ID 8                   8  request ID 8
 *           16  GET, PUT, DELETE:             16  GET: the value
 *               room for a position 8             RESERVE: position 8 | remote key 8
 *           24  object: key alone, key and value, tombstone
 *           16  RESERVE: bytes of the object 8
 *           16  PERSIST: position 8
 *
 *  hello     0  magic 8             welcome    0  magic 8
 *            8  kind 8                         8  remote key of the log 8
 *                                             16  offset of the ring 8
 *                                             24  bytes of the ring 8
 *                                             32  longest object 4 | BY_READ, BY_FLUSH or BY_MESSAGE 4
 * </pre>
 */
final class BaselineMessage {
  static final int GET = 1;
  static final int PUT = 2;
  static final int DELETE = 3;
  static final int RESERVE = 4;
  static final int PERSIST = 5;

  static final int OK = 0;

  /** Result of GET and DELETE: the key has no value. */
  static final int ABSENT = 1;

  /** There is no room: nothing was done. */
  static final int FULL = 2;

  /** PERSIST of a record that is not whole, or none of this client's. */
  static final int NOT_THERE = 3;

  /** The request can't be understood, or is too long. */
  static final int BAD_REQUEST = 4;

  /** Longest request and response. */
  static final int BYTES_MAX = 16 * 1024;

  static final int OBJECT_AT = 24;
  static final int HEADER_BYTES = 16;
  static final int RESERVE_BYTES = 24;
  static final int PERSIST_BYTES = 24;
  static final int RESERVED_BYTES = 32;
  static final long MAGIC = 0x3165_6E69_6C65_7361L; // "aseline1"
  static final int HELLO_BYTES = 16;
  static final int WELCOME_BYTES = 40;

  /** Durability of a WRITE: a READ after it makes it as durable as the store is. */
  static final int BY_READ = 0;

  static final int BY_FLUSH = 1;
  static final int BY_MESSAGE = 2;

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  static void putHeader(MemorySegment memory, long at, int type, int result, long id) {
    memory.set(INT, at, type);
    memory.set(INT, at + 4, result);
    memory.set(LONG, at + 8, id);
  }

  static int type(MemorySegment memory, long at) {
    return memory.get(INT, at);
  }

  static int result(MemorySegment memory, long at) {
    return memory.get(INT, at + 4);
  }

  static long id(MemorySegment memory, long at) {
    return memory.get(LONG, at + 8);
  }

  static long getLong(MemorySegment memory, long at) {
    return memory.get(LONG, at);
  }

  static void putLong(MemorySegment memory, long at, long value) {
    memory.set(LONG, at, value);
  }

  static int getInt(MemorySegment memory, long at) {
    return memory.get(INT, at);
  }

  static void putInt(MemorySegment memory, long at, int value) {
    memory.set(INT, at, value);
  }

  /** Bytes of the object of a request; 0 when the request's length does not agree with it. */
  static int objectBytes(MemorySegment memory, long at, int received) {
    long object = at + OBJECT_AT;
    if (received < OBJECT_AT + ObjectLayout.BYTES_MIN) {
      return 0;
    }
    int bytes =
        ObjectLayout.plausibleBytes(
            ObjectLayout.firstWord(memory, object),
            ObjectLayout.keyLength(memory, object),
            received - OBJECT_AT);
    return bytes == received - OBJECT_AT ? bytes : 0;
  }

  private BaselineMessage() {}
}
