package io.erda.client.operations;

import io.erda.pmem.MemoryFault;
import io.erda.pmem.MemoryGuard;
import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;

/**
 * Checks the memory that a caller passes, before anything else is done. Otherwise a segment whose
 * arena is closed, or that belongs to another thread, would fail only when its bytes are copied,
 * and in a call with several keys some operations would have taken effect by then. A single get
 * checks behind its copies.
 *
 * <p>The memory may still go away during the call: another thread closes the arena, or the file
 * that the segment maps is shortened. {@link #gone} and {@link #missing} make exceptions of that.
 */
public final class CallersMemory {
  private static final MemoryGuard.Access<MemorySegment, MemorySegment> COPY =
      (from, into, at, bytes, _, _) -> {
        MemorySegment.copy(from, at, into, 0, bytes);
        return 0;
      };

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
  public static void requireAll(MemorySegment[] segments, String what) {
    for (int i = 0; i < segments.length; i++) {
      if (!isUsable(segments[i])) {
        throw unusable(segments[i], inWords(what, i, segments.length));
      }
    }
  }

  /** As {@link #requireWritable}, for all segments of an array. */
  public static void requireAllWritable(MemorySegment[] segments, String what) {
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

  /**
   * Copies bytes to the beginning of a caller's segment.
   *
   * @throws ErdaException.BadArgument when its memory is gone
   */
  public static void copy(
      MemorySegment from, long at, MemorySegment into, long bytes, String what) {
    try {
      if (into.isMapped()) {
        MemoryGuard faults = new MemoryGuard();
        if (faults.access(COPY, from, into, at, bytes, 0, 0) == MemoryGuard.FAULT) {
          throw missing(faults.fault(), what, into);
        }
      } else {
        MemorySegment.copy(from, at, into, 0, bytes);
      }
    } catch (IllegalStateException e) {
      throw gone(e, what, into);
    }
  }

  /**
   * Returns the exception for a copy of a caller's bytes that failed.
   *
   * @param failure of the copy; thrown on when it is about something else than the memory
   * @param what the name of the segment in messages
   * @param segments the segments that were copied, of which some may be null
   */
  public static ErdaException.BadArgument gone(
      RuntimeException failure, String what, MemorySegment... segments) {
    for (MemorySegment segment : segments) {
      if (segment != null && !segment.scope().isAlive()) {
        return because(failure, what, "was freed during the call: its arena was closed");
      }
    }
    throw failure;
  }

  /**
   * As {@link #gone}, for a copy that met a fault. The fault is thrown on when it is not of these
   * segments, because none of them maps a file.
   */
  public static ErdaException.BadArgument missing(
      MemoryFault fault, String what, MemorySegment... segments) {
    for (MemorySegment segment : segments) {
      if (segment != null && segment.isMapped()) {
        return because(
            fault,
            what,
            "is missing: the file that it maps was shortened, or its file system failed");
      }
    }
    throw fault;
  }

  private static ErdaException.BadArgument because(Throwable failure, String what, String why) {
    ErdaException.BadArgument gone =
        new ErdaException.BadArgument("the memory of " + what + " " + why);
    gone.addSuppressed(failure);
    return gone;
  }

  private static IllegalArgumentException readOnly(String what) {
    return new IllegalArgumentException(what + " is read-only");
  }

  private static String inWords(String what, int i, int count) {
    return what + " " + i + " of " + count;
  }
}
