package io.erda.protocol;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The control messages between client and server, after the handshake. Little-endian, at most
 * {@link Protocol#MESSAGE_BYTES_MAX}.
 *
 * <p>Every message begins with the same header; a response repeats the type and request ID of its
 * request.
 *
 * <pre>
 *   0   type               2
 *   2   result             2   of {@link Result}; 0 in a request
 *   4   length             4   of the whole message, bytes
 *   8   request ID         8   chosen by the client
 *  16   client ID          4
 *  20   connection epoch   4
 * </pre>
 *
 * <p>Bodies, from offset 24:
 *
 * <pre>
 * LEASE    request    24 head 4 | 28 bytes at least 4
 *          response   24 reservation ID 8 | 32 epoch 8 | 40 region index 4 | 44 generation 4 | 48 place 8 | 56 length 4 | 60 zero 4
 *                     64 remote key 8, with which this client alone may WRITE there
 * PUBLISH  request    24 reservation ID 8 | 32 offset 4 | 36 object bytes, unpadded 4 | 40 head 4
 *                     44 flags 4 (bit 0: delete; bit 1: only if the key has no value; bit 2: only if it has the value of)
 *                     only with bit 2: 48 length 4 | 52 zero 4 | 56 hash 16
 *          response   24 existed 4 (1: the key had a value before) | 28 zero 4; CONFLICT: the condition does not hold
 * END      request    24 reservation ID 8
 *          response   (header alone)
 * MAP      request    24 from 4 | 28 zero 4
 *          response   24 incarnation 8 | 32 epoch 8 | 40 table key 8 | 48 entries offset 8 | 56 buckets 8
 *                     64 neighbourhood 4 | 68 regions in all 4 | 72 first 4 | 76 count 4
 *                     80 new table's key 8 | 88 new table's buckets 8 (0, 0: no doubling is on) | 96 records of 24:
 *                     head 4 | index 4 | generation 4 | zero 4 | remote key 8
 * RESOLVE  request    24 key length 4 | 28 zero 4 | 32 key
 *          response   (header alone): OK, the entry is sound, read again; DAMAGED
 * ERASE    request    24 key length 4 | 28 zero 4 | 32 key
 *          response   24 existed 4 | 28 zero 4. A delete that takes no space in the log, for when there is none
 * CLEAN    request    24 head 4 (−1: all) | 28 zero 4. Every region of the head that holds something dead is to be cleaned
 *          response   (header alone): OK, it is noted; the figure cleaner.asked says when it is done
 * LEFT     request    24 epoch 8. The client uses nothing that the map of this epoch does not name: no READ or WRITE of it
 *                     is under way or will begin, and it is not mapped
 *          response   (header alone)
 * ANNOUNCE request    24 reservation ID 8 | 32 offset 4 | 36 object bytes, unpadded 4 | 40 head 4 | 44 flags 4 (of PUBLISH)
 *                     48 key length 4 | 52 zero 4 | 56 key; with bit 2: 56 length 4 | 60 zero 4 | 64 hash 16 | 80 key.
 *                     In stores of the put mode announce alone
 *          response   24 existed 4 (1: the key had a value before) | 28 awaited 4 (1: the key's word names the place, and the
 *                     object is to be written there; 0: there is nothing to delete); CONFLICT: the condition does not hold
 * REPORT   request    24 key word 8 | 32 offset 4 | 36 zero 4. The object that a pending word names there was not whole when the client read it
 *          response   (header alone)
 * STATS    request    24 from 4 | 28 zero 4
 *          response   24 figures in all 4 | 28 first 4 | 32 count 4 | 36 zero 4 | 40 figures: value 8 | name length 1 | name
 * </pre>
 *
 * <p>The body of a response whose result is READ_ONLY, FAILED, NOT_NOW, DISK_FULL, NO_SUCH_HEAD or
 * OVER_QUOTA is a text in UTF-8 that says why, from offset 24 to the end of the message; it may be
 * empty.
 */
public final class Message {
  public static final int HEADER_BYTES = 24;

  public static final int LEASE = 1;
  public static final int PUBLISH = 2;
  public static final int END = 3;
  public static final int MAP = 4;
  public static final int RESOLVE = 5;
  public static final int STATS = 6;
  public static final int ERASE = 7;
  public static final int CLEAN = 8;
  public static final int LEFT = 9;
  public static final int ANNOUNCE = 10;
  public static final int REPORT = 11;

  /** The highest type. A new type gets the next number. */
  public static final int TYPE_MAX = REPORT;

  public static final int BODY = HEADER_BYTES;

  public static final int LEASE_HEAD = BODY;
  public static final int LEASE_BYTES_MIN = BODY + 4;
  public static final int LEASE_REQUEST_BYTES = BODY + 8;

  public static final int LEASED_RESERVATION = BODY;
  public static final int LEASED_EPOCH = BODY + 8;
  public static final int LEASED_REGION_INDEX = BODY + 16;
  public static final int LEASED_GENERATION = BODY + 20;
  public static final int LEASED_PLACE = BODY + 24;
  public static final int LEASED_LENGTH = BODY + 32;
  public static final int LEASED_KEY = BODY + 40;
  public static final int LEASE_RESPONSE_BYTES = BODY + 48;

  public static final int PUBLISH_RESERVATION = BODY;
  public static final int PUBLISH_OFFSET = BODY + 8;
  public static final int PUBLISH_OBJECT_BYTES = BODY + 12;
  public static final int PUBLISH_HEAD = BODY + 16;
  public static final int PUBLISH_FLAGS = BODY + 20;
  public static final int PUBLISH_REQUEST_BYTES = BODY + 24;
  public static final int PUBLISH_EXPECTED_LENGTH = BODY + 24;

  /** The offset of the expected value's hash from that of its length. */
  public static final int EXPECTED_HASH = 8;

  /** Bytes of a request with {@link #FLAG_IF_EQUAL}. */
  public static final int PUBLISH_IF_EQUAL_BYTES = BODY + 48;

  /** A flag: the object is a tombstone. */
  public static final int FLAG_DELETE = 1;

  /** A flag: the object is published only if its key has no value. */
  public static final int FLAG_IF_ABSENT = 2;

  /** A flag: the object is published only if its key has a certain value. */
  public static final int FLAG_IF_EQUAL = 4;

  public static final int PUBLISHED_EXISTED = BODY;
  public static final int PUBLISH_RESPONSE_BYTES = BODY + 8;

  public static final int ANNOUNCE_RESERVATION = BODY;
  public static final int ANNOUNCE_OFFSET = BODY + 8;
  public static final int ANNOUNCE_OBJECT_BYTES = BODY + 12;
  public static final int ANNOUNCE_HEAD = BODY + 16;
  public static final int ANNOUNCE_FLAGS = BODY + 20;
  public static final int ANNOUNCE_KEY_LENGTH = BODY + 24;

  /** The offset of the key in a request without {@link #FLAG_IF_EQUAL}. */
  public static final int ANNOUNCE_KEY = BODY + 32;

  public static final int ANNOUNCE_EXPECTED_LENGTH = BODY + 32;

  /** The offset of the key in a request with {@link #FLAG_IF_EQUAL}. */
  public static final int ANNOUNCE_IF_EQUAL_KEY = BODY + 56;

  public static final int ANNOUNCED_EXISTED = BODY;

  /** 0 where the server awaits no WRITE, as for a delete of a key without a value; else 1. */
  public static final int ANNOUNCED_AWAITED = BODY + 4;

  public static final int ANNOUNCE_RESPONSE_BYTES = BODY + 8;

  public static final int REPORT_KEY_WORD = BODY;
  public static final int REPORT_OFFSET = BODY + 8;
  public static final int REPORT_REQUEST_BYTES = BODY + 16;

  public static final int END_RESERVATION = BODY;
  public static final int END_REQUEST_BYTES = BODY + 8;
  public static final int END_RESPONSE_BYTES = BODY;

  public static final int MAP_FROM = BODY;
  public static final int MAP_REQUEST_BYTES = BODY + 8;

  public static final int MAPPED_INCARNATION = BODY;
  public static final int MAPPED_EPOCH = BODY + 8;
  public static final int MAPPED_TABLE_KEY = BODY + 16;
  public static final int MAPPED_ENTRIES_OFFSET = BODY + 24;
  public static final int MAPPED_BUCKETS = BODY + 32;
  public static final int MAPPED_NEIGHBOURHOOD = BODY + 40;
  public static final int MAPPED_REGIONS = BODY + 44;
  public static final int MAPPED_FIRST = BODY + 48;
  public static final int MAPPED_COUNT = BODY + 52;
  public static final int MAPPED_NEXT_KEY = BODY + 56;
  public static final int MAPPED_NEXT_BUCKETS = BODY + 64;
  public static final int MAPPED_RECORDS = BODY + 72;

  public static final int RECORD_HEAD = 0;
  public static final int RECORD_INDEX = 4;
  public static final int RECORD_GENERATION = 8;
  public static final int RECORD_KEY = 16;
  public static final int RECORD_BYTES = 24;

  /** Region records that one response holds. */
  public static final int RECORDS_MAX =
      (Protocol.MESSAGE_BYTES_MAX - MAPPED_RECORDS) / RECORD_BYTES;

  public static final int RESOLVE_KEY_LENGTH = BODY;
  public static final int RESOLVE_KEY = BODY + 8;
  public static final int RESOLVE_RESPONSE_BYTES = BODY;

  public static final int ERASE_KEY_LENGTH = RESOLVE_KEY_LENGTH;
  public static final int ERASE_KEY = RESOLVE_KEY;
  public static final int ERASED_EXISTED = BODY;
  public static final int ERASE_RESPONSE_BYTES = BODY + 8;

  public static final int CLEAN_HEAD = BODY;
  public static final int CLEAN_REQUEST_BYTES = BODY + 8;
  public static final int CLEAN_RESPONSE_BYTES = BODY;

  public static final int LEFT_EPOCH = BODY;
  public static final int LEFT_REQUEST_BYTES = BODY + 8;
  public static final int LEFT_RESPONSE_BYTES = BODY;

  public static final int STATS_FROM = BODY;
  public static final int STATS_REQUEST_BYTES = BODY + 8;
  public static final int STATS_FIGURES = BODY;
  public static final int STATS_FIRST = BODY + 4;
  public static final int STATS_COUNT = BODY + 8;
  public static final int STATS_FIGURES_AT = BODY + 16;

  /** The length of the longest text of a reason, in bytes. */
  public static final int REASON_BYTES_MAX = 1024;

  /** The longest name of a figure, bytes. */
  private static final int FIGURE_NAME_BYTES_MAX = 255;

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  static {
    int hash = 16;
    assert PUBLISH_EXPECTED_LENGTH + EXPECTED_HASH + hash == PUBLISH_IF_EQUAL_BYTES
        : "PUBLISH ends with what is expected";
    assert ANNOUNCE_EXPECTED_LENGTH + EXPECTED_HASH + hash == ANNOUNCE_IF_EQUAL_KEY
        : "the key of ANNOUNCE follows what is expected";
    assert PUBLISH_OBJECT_BYTES == ANNOUNCE_OBJECT_BYTES && PUBLISH_FLAGS == ANNOUNCE_FLAGS
        : "PUBLISH and ANNOUNCE begin with the same fields";
    assert LEASED_KEY + Long.BYTES == LEASE_RESPONSE_BYTES : "a lease ends with its key";
    assert MAPPED_NEXT_BUCKETS + Long.BYTES == MAPPED_RECORDS && RECORDS_MAX > 0
        : "the records of a map follow its fields";
    assert RECORD_KEY + Long.BYTES == RECORD_BYTES : "a record of a map ends with its key";
    assert ANNOUNCE_IF_EQUAL_KEY + Protocol.KEY_BYTES_MAX <= Protocol.MESSAGE_BYTES_MAX
            && RESOLVE_KEY + Protocol.KEY_BYTES_MAX <= Protocol.MESSAGE_BYTES_MAX
        : "a message takes the longest key";
    assert HEADER_BYTES + REASON_BYTES_MAX <= Protocol.MESSAGE_BYTES_MAX
            && STATS_FIGURES_AT + Long.BYTES + 1 + FIGURE_NAME_BYTES_MAX
                <= Protocol.MESSAGE_BYTES_MAX
        : "a message takes the longest reason and the longest name of a figure";
  }

  /** Stores a header. */
  public static void putHeader(
      MemorySegment to,
      long base,
      int type,
      int result,
      int length,
      long requestId,
      int clientId,
      int connectionEpoch) {
    assert (type | result) >>> Short.SIZE == 0 : "type " + type + ", result " + result;
    to.set(SHORT, base, (short) type);
    to.set(SHORT, base + 2, (short) result);
    to.set(INT, base + 4, length);
    to.set(LONG, base + 8, requestId);
    to.set(INT, base + 16, clientId);
    to.set(INT, base + 20, connectionEpoch);
  }

  /** Whether {@code received} bytes at {@code base} are a message whose length field agrees. */
  public static boolean wellFormed(MemorySegment from, long base, int received) {
    return received >= HEADER_BYTES && from.get(INT, base + 4) == received;
  }

  public static int type(MemorySegment from, long base) {
    return from.get(SHORT, base) & 0xFFFF;
  }

  public static int result(MemorySegment from, long base) {
    return from.get(SHORT, base + 2) & 0xFFFF;
  }

  public static int length(MemorySegment from, long base) {
    return from.get(INT, base + 4);
  }

  public static long requestId(MemorySegment from, long base) {
    return from.get(LONG, base + 8);
  }

  public static int clientId(MemorySegment from, long base) {
    return from.get(INT, base + 16);
  }

  public static int connectionEpoch(MemorySegment from, long base) {
    return from.get(INT, base + 20);
  }

  public static int getInt(MemorySegment from, long at) {
    return from.get(INT, at);
  }

  public static long getLong(MemorySegment from, long at) {
    return from.get(LONG, at);
  }

  public static void putInt(MemorySegment to, long at, int value) {
    to.set(INT, at, value);
  }

  public static void putLong(MemorySegment to, long at, long value) {
    to.set(LONG, at, value);
  }

  /**
   * Puts the text of a reason after the header of a response. Returns the length of the message.
   */
  public static int putReason(MemorySegment to, long base, String reason) {
    byte[] text = utf8(reason, REASON_BYTES_MAX);
    MemorySegment.copy(text, 0, to, ValueLayout.JAVA_BYTE, base + HEADER_BYTES, text.length);
    return HEADER_BYTES + text.length;
  }

  /**
   * Returns the text after the header of a message of {@code length} bytes; empty when there is
   * none.
   */
  public static String reason(MemorySegment from, long base, int length) {
    int bytes = Math.clamp((long) length - HEADER_BYTES, 0, REASON_BYTES_MAX);
    return new String(
        from.asSlice(base + HEADER_BYTES, bytes).toArray(ValueLayout.JAVA_BYTE),
        StandardCharsets.UTF_8);
  }

  /** Cuts a text to the length that a figure's name may have. */
  public static String figureName(String text) {
    return new String(utf8(text, FIGURE_NAME_BYTES_MAX), StandardCharsets.UTF_8);
  }

  /** Encodes as many whole characters as fit. */
  private static byte[] utf8(String text, int bytesMax) {
    byte[] all = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(all.length, bytesMax);
    while (length < all.length && (all[length] & 0xC0) == 0x80) {
      length--;
    }
    return Arrays.copyOf(all, length);
  }

  private Message() {}
}
