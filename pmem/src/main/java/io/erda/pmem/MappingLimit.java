package io.erda.pmem;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * Refuses mappings of clients while their process has three quarters of those that the kernel
 * allows it ({@code vm.max_map_count}). The rest is for the JVM: one that can't map memory for
 * itself ends the process. Each client maps each region of the log, so a few clients of a store
 * with thousands of regions may get there.
 *
 * <p>The mappings of the process are counted now and then, so a few more than that may be made. Any
 * threads.
 */
public final class MappingLimit {
  /** The limit of this process. */
  public static final MappingLimit OF_PROCESS =
      new MappingLimit(allowed(Path.of("/proc/sys/vm/max_map_count")), MappingLimit::mappings);

  /** Mappings are counted once for so many. */
  static final int STRIDE = 256;

  private final long allowed;
  private final LongSupplier mappings;
  private final AtomicInteger asked = new AtomicInteger();
  private volatile boolean isReached;

  /**
   * @param allowed how many mappings a process may have
   * @param mappings counts those of this process
   */
  MappingLimit(long allowed, LongSupplier mappings) {
    this.allowed = allowed;
    this.mappings = mappings;
  }

  /**
   * To be called before a file is mapped.
   *
   * @param file its name or path
   * @throws UnmappedException when the process has too many mappings
   */
  public void require(Object file) throws UnmappedException {
    if (isReached || (asked.getAndIncrement() & STRIDE - 1) == 0) {
      isReached = mappings.getAsLong() > allowed / 4 * 3;
    }
    if (isReached) {
      throw UnmappedException.tooMany(file, allowed);
    }
  }

  /** The number in a file; the largest one when there is none. */
  static long allowed(Path file) {
    // Such a file must be read at once: from behind its first byte the kernel gives no more of it.
    byte[] buffer = new byte[32];
    try (InputStream number = Files.newInputStream(file)) {
      int read = Math.max(0, number.read(buffer));
      return Long.parseLong(new String(buffer, 0, read, StandardCharsets.US_ASCII).strip());
    } catch (IOException | NumberFormatException e) {
      return Long.MAX_VALUE;
    }
  }

  /** The lines of {@code /proc/self/maps}; 0 when it can't be read. */
  private static long mappings() {
    byte[] buffer = new byte[1 << 16];
    try (InputStream lines = Files.newInputStream(Path.of("/proc/self/maps"))) {
      long count = 0;
      for (int read = lines.read(buffer); read >= 0; read = lines.read(buffer)) {
        for (int i = 0; i < read; i++) {
          count += buffer[i] == '\n' ? 1 : 0;
        }
      }
      return count;
    } catch (IOException e) {
      return 0;
    }
  }
}
