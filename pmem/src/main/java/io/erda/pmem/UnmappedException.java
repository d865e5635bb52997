package io.erda.pmem;

import java.io.IOException;

/**
 * A file can't be mapped, because the process has no address space or no memory for it, or too many
 * mappings ({@link MappingLimit}). The JDK's message says only that mapping failed.
 */
public final class UnmappedException extends IOException {
  private static final long serialVersionUID = 1L;

  private UnmappedException(Object file, String why, IOException cause) {
    super(file + " can't be mapped: this process has " + why, cause);
  }

  /** The process has nearly all mappings that the kernel allows it. */
  static UnmappedException tooMany(Object file, long allowed) {
    return new UnmappedException(
        file,
        "three quarters of the "
            + allowed
            + " mappings that the kernel allows it (vm.max_map_count)",
        null);
  }

  /**
   * Names the file of an error of {@link java.nio.channels.FileChannel#map}.
   *
   * @param file its name or path
   * @return an {@link UnmappedException} where that is the error; any other error as it is
   */
  public static IOException of(Object file, IOException e) {
    return isReasonOf(e)
        ? new UnmappedException(file, "no address space or no memory for it", e)
        : e;
  }

  /** Whether an error of {@link java.nio.channels.FileChannel#map} says so. */
  public static boolean isReasonOf(IOException e) {
    return e.getCause() instanceof OutOfMemoryError;
  }
}
