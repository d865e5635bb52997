package io.erda.client.calls;

import java.lang.foreign.MemorySegment;

/**
 * Checks the memory that a caller passes, before anything else is done. Otherwise a segment whose
 * arena is closed, or that belongs to another thread, would fail only when its bytes are copied,
 * and in a call with several keys some operations would have taken effect by then.
 */
public final class CallersMemory {
  private CallersMemory() {}

  /**
   * Throws when the caller may not use the memory.
   *
   * @param what the name of the segment in messages
   * @throws IllegalStateException when its arena is closed
   * @throws WrongThreadException when the calling thread may not use it
   */
  public static void require(MemorySegment segment, String what) {
    if (!isUsable(segment)) {
      throw unusable(segment, what);
    }
  }

  /**
   * As {@link #require}, for a segment that is copied into.
   *
   * @throws IllegalArgumentException when it is not empty and is read-only
   */
  public static void requireWritable(MemorySegment segment, String what) {
    require(segment, what);
    if (!isWritable(segment)) {
      throw readOnly(what);
    }
  }

  /** As {@link #require}, for all segments of an array. */
  static void requireAll(MemorySegment[] segments, String what) {
    for (int i = 0; i < segments.length; i++) {
      if (!isUsable(segments[i])) {
        throw unusable(segments[i], inWords(what, i, segments.length));
      }
    }
  }

  /** As {@link #requireWritable}, for all segments of an array. */
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
