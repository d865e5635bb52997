package io.erda.client.calls;

import java.lang.foreign.MemorySegment;

/**
 * Looks at the memory that a caller gives, before anything is done for the call. A segment whose
 * arena is closed, or which another thread alone may use, would be found out where its bytes are
 * copied: in a call of several keys when others of them have taken effect already.
 */
public final class CallersMemory {
  private CallersMemory() {}

  /**
   * Refuses memory that the caller may not use.
   *
   * @param what the segment, in words for a message
   * @throws IllegalStateException when its arena is closed
   * @throws WrongThreadException when the calling thread may not use it
   */
  public static void require(MemorySegment segment, String what) {
    if (!isUsable(segment)) {
      throw unusable(segment, what);
    }
  }

  /**
   * As {@link #require}, of a segment that is to be copied into.
   *
   * @throws IllegalArgumentException when it has room and is read-only
   */
  public static void requireWritable(MemorySegment segment, String what) {
    require(segment, what);
    if (!isWritable(segment)) {
      throw readOnly(what);
    }
  }

  /** As {@link #require}, of all segments of an array. */
  static void requireAll(MemorySegment[] segments, String what) {
    for (int i = 0; i < segments.length; i++) {
      if (!isUsable(segments[i])) {
        throw unusable(segments[i], inWords(what, i, segments.length));
      }
    }
  }

  /** As {@link #requireWritable}, of all segments of an array. */
  static void requireAllWritable(MemorySegment[] segments, String what) {
    requireAll(segments, what);
    for (int i = 0; i < segments.length; i++) {
      if (!isWritable(segments[i])) {
        throw readOnly(inWords(what, i, segments.length));
      }
    }
  }

  private static boolean isUsable(MemorySegment segment) {
    return segment.scope().isAlive() && segment.isAccessibleBy(Thread.currentThread());
  }

  private static boolean isWritable(MemorySegment segment) {
    return segment.byteSize() == 0 || !segment.isReadOnly();
  }

  private static RuntimeException unusable(MemorySegment segment, String what) {
    return segment.scope().isAlive()
        ? new WrongThreadException("the memory of " + what + " belongs to another thread's arena")
        : new IllegalStateException("the memory of " + what + " is freed: its arena is closed");
  }

  private static IllegalArgumentException readOnly(String what) {
    return new IllegalArgumentException(what + " is read-only");
  }

  private static String inWords(String what, int i, int count) {
    return what + " " + i + " of " + count;
  }
}
