package io.erda.rdma.rings;

import io.erda.rdma.Device;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The memory that the two ends of one connection share: a header and two rings. Each line of 128
 * bytes has one writer, except the two bell lines.
 *
 * <pre>
 *      0  magic (8) · layout version (4) · ring bytes (4) · requester's process ID (8)      written once by the requester
 *    128  requester's state (8)                                                             requester
 *    256  responder's state (8) · registry ID (8)                                           responder
 *    384  requester's bell: 1 while it sleeps (8)                                           both
 *    512  responder's bell (8)                                                              both
 *    640  consumer position of the ring to the responder (8)                                responder
 *    648  messages claimed (8) · messages finished (8)                                      responder
 *    768  consumer position of the ring to the requester (8)                                requester
 *    896  counters of the requester: READs, bytes, WRITEs, bytes, bytes that differ (5 × 8) requester
 *   1024  counters of the responder, the same                                               responder
 *   1152  length (4) · private data of the requester (192)                                  requester
 *   1408  length (4) · private data of the responder (192)                                  responder
 *   4096  ring to the responder (65536)                                                     requester
 *  69632  ring to the requester (65536)                                                     responder
 * </pre>
 *
 * <p>Little-endian. All zeros but the first line and the private data when the connection begins.
 * See FORMAT.md.
 */
public final class QueueLayout {
  /** "ERDAQUE\0" as a little-endian word. */
  public static final long MAGIC = 0x00455551_41445245L;

  /**
   * The version of all bytes that the ends of a connection share: HELLO, queue file, registry. In
   * all versions it has the same offset in each of the three, and so have the name in HELLO and, in
   * a queue file, the states and the private data. So a server can refuse a client of another
   * version with a message.
   */
  public static final int VERSION = 3;

  public static final int RING_BYTES = 1 << 16;

  /**
   * The longest message. A ring has room for two such messages with their headers, so an empty ring
   * has room for one at any position.
   */
  public static final int MESSAGE_BYTES_MAX = 16 * 1024;

  static final long MAGIC_OFFSET = 0;
  static final long VERSION_OFFSET = 8;
  static final long RING_BYTES_OFFSET = 12;
  public static final long PID_OFFSET = 16;
  public static final long REQUESTER_STATE_OFFSET = 128;
  public static final long RESPONDER_STATE_OFFSET = 256;
  public static final long REGISTRY_ID_OFFSET = 264;
  static final long REQUESTER_BELL_OFFSET = 384;
  static final long RESPONDER_BELL_OFFSET = 512;
  public static final long TO_RESPONDER_CONSUMED_OFFSET = 640;
  static final long CLAIMED_OFFSET = 648;
  static final long FINISHED_OFFSET = 656;
  public static final long TO_REQUESTER_CONSUMED_OFFSET = 768;
  static final long REQUESTER_COUNTERS_OFFSET = 896;
  static final long RESPONDER_COUNTERS_OFFSET = 1024;
  public static final long REQUESTER_DATA_OFFSET = 1152;
  public static final long RESPONDER_DATA_OFFSET = 1408;
  public static final long TO_RESPONDER_RING_OFFSET = 4096;
  public static final long TO_REQUESTER_RING_OFFSET = TO_RESPONDER_RING_OFFSET + RING_BYTES;

  /** Bytes before the rings. */
  public static final long HEADER_BYTES = TO_RESPONDER_RING_OFFSET;

  public static final long BYTES = TO_REQUESTER_RING_OFFSET + RING_BYTES;

  /**
   * The states of an end. The requester is OPEN from the start; the responder becomes OPEN when it
   * accepts.
   */
  public static final long PENDING = 0;

  public static final long OPEN = 1;
  public static final long REFUSED = 2;

  /** The end was closed by its owner; all later completions of the other end are errors. */
  static final long FENCED = 3;

  /**
   * The process of the end has ended or is ending. This is like FENCED, but READs of its regions go
   * on.
   */
  public static final long GONE = 4;

  public static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  public static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
  public static final VarHandle WORD = LONG.varHandle();

  static {
    if (BYTES != 135_168
        || REQUESTER_DATA_OFFSET + 4 + Device.PRIVATE_DATA_MAX > RESPONDER_DATA_OFFSET
        || RESPONDER_DATA_OFFSET + 4 + Device.PRIVATE_DATA_MAX > TO_RESPONDER_RING_OFFSET
        || 2 * (Ring.HEADER_BYTES + MESSAGE_BYTES_MAX) + Ring.HEADER_BYTES > RING_BYTES) {
      throw new AssertionError("queue layout");
    }
    int line = 128;
    assert REGISTRY_ID_OFFSET / line == RESPONDER_STATE_OFFSET / line
            && FINISHED_OFFSET / line == TO_RESPONDER_CONSUMED_OFFSET / line
        : "the responder's words share its lines";
    assert REQUESTER_STATE_OFFSET % line == 0
            && RESPONDER_STATE_OFFSET % line == 0
            && REQUESTER_BELL_OFFSET % line == 0
            && RESPONDER_BELL_OFFSET % line == 0
            && TO_RESPONDER_CONSUMED_OFFSET % line == 0
            && TO_REQUESTER_CONSUMED_OFFSET % line == 0
            && REQUESTER_COUNTERS_OFFSET % line == 0
            && RESPONDER_COUNTERS_OFFSET % line == 0
        : "each line has one writer";
  }

  private QueueLayout() {}

  /** Writes the header. The requester calls this before any other process sees the memory. */
  public static void initialise(
      MemorySegment queue, long pid, boolean counted, MemorySegment privateData) {
    queue.set(INT, VERSION_OFFSET, VERSION);
    queue.set(INT, RING_BYTES_OFFSET, RING_BYTES);
    queue.set(LONG, PID_OFFSET, pid);
    queue.set(LONG, REQUESTER_STATE_OFFSET, OPEN);
    if (!counted) {
      queue.set(LONG, REQUESTER_COUNTERS_OFFSET + Counters.BYTES_DIFFERING, -1);
    }
    setPrivateData(queue, REQUESTER_DATA_OFFSET, privateData);
    WORD.setRelease(queue, MAGIC_OFFSET, MAGIC);
  }

  public static void setPrivateData(MemorySegment queue, long at, MemorySegment data) {
    long length = data.byteSize();
    if (length > Device.PRIVATE_DATA_MAX) {
      throw new IllegalArgumentException(
          "private data of " + length + " bytes; at most " + Device.PRIVATE_DATA_MAX);
    }
    MemorySegment.copy(data, 0, queue, at + 4, length);
    queue.set(INT, at, (int) length);
  }

  /**
   * Returns a copy of private data, so that the peer can't change it while it is read; null when
   * its length is invalid.
   */
  public static MemorySegment privateData(MemorySegment queue, long at) {
    int length = queue.get(INT, at);
    if (length < 0 || length > Device.PRIVATE_DATA_MAX) {
      return null;
    }
    byte[] copy = new byte[length];
    MemorySegment.copy(queue, ValueLayout.JAVA_BYTE, at + 4, copy, 0, length);
    return MemorySegment.ofArray(copy).asReadOnly();
  }

  public static int version(MemorySegment queue) {
    return queue.get(INT, VERSION_OFFSET);
  }

  /** Checks a peer's header. Returns the error in words, or null. */
  public static String validate(MemorySegment queue) {
    if (queue.byteSize() != BYTES) {
      return "queue file of " + queue.byteSize() + " bytes, not " + BYTES;
    }
    if ((long) WORD.getAcquire(queue, MAGIC_OFFSET) != MAGIC) {
      return "not a queue file";
    }
    if (version(queue) != VERSION) {
      return "queue layout version " + version(queue) + ", not " + VERSION;
    }
    int ringBytes = queue.get(INT, RING_BYTES_OFFSET);
    return ringBytes == RING_BYTES ? null : "rings of " + ringBytes + " bytes, not " + RING_BYTES;
  }
}
