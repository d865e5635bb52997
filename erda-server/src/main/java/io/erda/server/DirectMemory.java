package io.erda.server;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;

/**
 * The memory of this JVM outside of its heap and of mapped files. Each client of a server takes
 * some of it. Where it is used up, whatever needs more fails with an {@code OutOfMemoryError}. Any
 * thread.
 */
final class DirectMemory {
  /**
   * A quarter of the limit is reserved, at least so many bytes if that is not more than a half, and
   * at most so many: no further client is admitted whose memory would come out of it. So the
   * clients that are there can go on, and so can the threads that ask the server about others.
   */
  private static final long RESERVED_BYTES_MIN = 2 << 20;

  private static final long RESERVED_BYTES_MAX = 32 << 20;

  private static final BufferPoolMXBean POOL = pool();

  private static final long ADMITTED_BYTES_MAX = admittedBytesMax();

  private DirectMemory() {}

  private static BufferPoolMXBean pool() {
    for (BufferPoolMXBean each : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
      if (each.getName().equals("direct")) {
        return each;
      }
    }
    return null;
  }

  /**
   * Returns a warning when this JVM was told to collect no garbage when it is asked to; null
   * otherwise. Some memory of clients that have left is found only by a collection.
   */
  static String warning() {
    return "true".equals(option("DisableExplicitGC"))
        ? "-XX:+DisableExplicitGC keeps memory of clients that have left until the heap is"
            + " collected for other reasons: where more than 64 clients come and go, leave it"
            + " out, or set -XX:MaxDirectMemorySize high enough"
        : null;
  }

  /** Returns the value of an option of the JVM; null when it is unknown. */
  private static String option(String name) {
    HotSpotDiagnosticMXBean flags =
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    try {
      return flags == null ? null : flags.getVMOption(name).getValue();
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** Returns {@code -XX:MaxDirectMemorySize}; without it the JVM takes the size of the heap. */
  private static long limit() {
    String set = option("MaxDirectMemorySize");
    return set == null || set.equals("0") ? Runtime.getRuntime().maxMemory() : Long.parseLong(set);
  }

  /** Returns the bytes that are in use; 0 when the JVM does not tell. */
  static long bytes() {
    return POOL == null ? 0 : POOL.getMemoryUsed();
  }

  /** Whether only the reserved memory is left. */
  static boolean isUsedUp() {
    return bytes() > ADMITTED_BYTES_MAX;
  }

  private static long admittedBytesMax() {
    long limit = limit();
    long reserved = Math.clamp(limit / 4, RESERVED_BYTES_MIN, RESERVED_BYTES_MAX);
    return limit - Math.min(reserved, limit / 2);
  }
}
