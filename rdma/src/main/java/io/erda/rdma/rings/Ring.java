package io.erda.rdma.rings;

import io.erda.pmem.PageCopy;
import java.lang.foreign.MemorySegment;

/**
 * A single-producer single-consumer ring of records in memory that two ends share.
 *
 * <pre>
 *   63 ........ 32   31 .. 24   23 ............ 0
 *   immediate data   type       payload length            header word, then the payload, padded to 8 bytes
 * </pre>
 *
 * <p>A header word of 0 means that there is no record yet. Before the producer publishes a header
 * (with release semantics), it has stored the payload, and a 0 in the word behind the record. So
 * the consumer finds the end of the records at the place that it loads next: an empty poll is one
 * load of a line that only the producer writes, and a message costs one line transfer, not two. A
 * record never wraps around; a PAD record fills the end of the ring. The producer's position is not
 * shared. The consumer's position is, and the producer loads it only when the ring seems full.
 *
 * <p>The other end may be hostile: each side keeps its position in private memory, loads a shared
 * word only once, and checks it before use.
 */
public final class Ring {
  public static final int HEADER_BYTES = 8;
  public static final int TYPE_SEND = 1;

  /** A record whose payload is one u32: the number of bytes that the WRITE has written. */
  public static final int TYPE_WRITE_IMM = 2;

  public static final int TYPE_PAD = 3;

  /**
   * The results of {@link Consumer#next} besides a header, and of {@link Producer#offer} and {@link
   * Producer#room}.
   */
  public static final int EMPTY = 0;

  public static final int FAULT = -1;
  public static final int FITS = 1;

  private static final int LINE_BYTES = 64;
  private static final int CAPACITY = QueueLayout.RING_BYTES;
  private static final int MASK = CAPACITY - 1;

  private Ring() {}

  public static long header(int type, int imm, int length) {
    return (long) imm << 32 | (long) type << 24 | length;
  }

  public static int type(long header) {
    return (int) (header >>> 24) & 0xff;
  }

  public static int length(long header) {
    return (int) header & 0xff_ffff;
  }

  static int imm(long header) {
    return (int) (header >>> 32);
  }

  public static int recordBytes(int length) {
    return HEADER_BYTES + (length + 7 & ~7);
  }

  /** The producing end. */
  public static final class Producer {
    private final MemorySegment queue;
    private final long base;
    private final long words;
    private final long consumedWord;
    private long tail;
    private long consumed;

    public Producer(MemorySegment queue, long base, long consumedAt) {
      this.queue = queue;
      this.base = base;
      this.words = queue.address() + base;
      this.consumedWord = queue.address() + consumedAt;
    }

    /**
     * Publishes a message. Returns {@link Ring#FITS} when that is done, {@link Ring#EMPTY} when
     * there is no room, {@link Ring#FAULT} when the consumer's position is invalid.
     */
    public int offer(int type, int imm, MemorySegment source, long sourceOffset, int length) {
      assert length >= 0 && length <= QueueLayout.MESSAGE_BYTES_MAX : length;
      int fits = room(length);
      if (fits != FITS) {
        return fits;
      }
      int index = (int) tail & MASK;
      int room = CAPACITY - index;
      boolean wraps = recordBytes(length) > room;
      long end = end(length);
      int at = wraps ? 0 : index;
      // The stores go from the end to the beginning, because the consumer polls the line of the
      // header, and each of its loads takes the line away from this processor.
      Words.plain(words + ((int) end & MASK), 0);
      copyIn(source, sourceOffset, base + at + HEADER_BYTES, length);
      Words.release(words + at, header(type, imm, length));
      if (wraps) {
        Words.release(words + index, header(TYPE_PAD, 0, room - HEADER_BYTES));
      }
      tail = end;
      // The word behind the record also belongs to the producer.
      assert (tail & 7) == 0 && tail + HEADER_BYTES - consumed <= CAPACITY
          : "tail " + tail + ", consumed " + consumed;
      return FITS;
    }

    private void copyIn(MemorySegment source, long from, long to, int length) {
      int near = Math.min(length, LINE_BYTES - HEADER_BYTES);
      if (near < length) {
        PageCopy.copy(source, from + near, queue, to + near, length - near);
      }
      PageCopy.copy(source, from, queue, to, near);
    }

    /** Returns the result that {@link #offer} would have for a message of this length. */
    int room(int length) {
      // The word behind the record is written too.
      long needed = end(length) + HEADER_BYTES - CAPACITY;
      if (needed <= consumed) {
        return FITS;
      }
      int refreshed = refresh();
      return refreshed == FAULT ? FAULT : needed <= consumed ? FITS : EMPTY;
    }

    private long end(int length) {
      int record = recordBytes(length);
      int room = CAPACITY - ((int) tail & MASK);
      return tail + (record > room ? room + record : record);
    }

    private int refresh() {
      long position = Words.acquire(consumedWord);
      if (position < consumed || position > tail || (position & 7) != 0) {
        return FAULT;
      }
      consumed = position;
      return EMPTY;
    }
  }

  /** The consuming end. */
  public static final class Consumer {
    private final MemorySegment queue;
    private final long base;
    private final long words;
    private final long consumedWord;
    private long head;

    public Consumer(MemorySegment queue, long base, long consumedAt) {
      this.queue = queue;
      this.base = base;
      this.words = queue.address() + base;
      this.consumedWord = queue.address() + consumedAt;
    }

    /**
     * The header of the next message, {@link Ring#EMPTY}, or {@link Ring#FAULT} when the record is
     * invalid. Consumes padding.
     */
    public long next() {
      long header = Words.acquire(words + ((int) head & MASK));
      if (header == EMPTY) {
        return EMPTY;
      }
      return check(header, CAPACITY - ((int) head & MASK));
    }

    private long check(long header, int room) {
      int length = length(header);
      switch (type(header)) {
        case TYPE_SEND:
          return length <= QueueLayout.MESSAGE_BYTES_MAX && recordBytes(length) <= room
              ? header
              : FAULT;
        case TYPE_WRITE_IMM:
          return length == 4 && recordBytes(length) <= room ? header : FAULT;
        case TYPE_PAD:
          // No record needs padding at place 0. So no padding follows padding, and the recursion
          // ends.
          if (room == CAPACITY || length != room - HEADER_BYTES) {
            return FAULT;
          }
          head += room;
          return next();
        default:
          return FAULT;
      }
    }

    /** Whether {@link #next} returns {@link Ring#EMPTY}. */
    boolean isEmpty() {
      return Words.acquire(words + ((int) head & MASK)) == EMPTY;
    }

    public void copyTo(MemorySegment target, long targetOffset, int length) {
      MemorySegment.copy(
          queue, base + ((int) head & MASK) + HEADER_BYTES, target, targetOffset, length);
    }

    public int writtenBytes() {
      return queue.get(QueueLayout.INT, base + ((int) head & MASK) + HEADER_BYTES);
    }

    /** Gives the space of this header's record back to the producer. */
    public void consume(long header) {
      assert recordBytes(length(header)) <= CAPACITY - ((int) head & MASK)
          : "a record wraps: " + header;
      head += recordBytes(length(header));
      Words.release(consumedWord, head);
    }

    /** Bytes consumed since the connection began. */
    public long position() {
      return head;
    }
  }
}
