package io.erda.launcher.doctor;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * How much room a file system has for this user.
 *
 * @param totalBytes of the whole file system
 * @param usableBytes that may still be taken
 * @param totalFiles how many files it can have; 0 where that has no limit
 * @param usableFiles how many more
 */
public record Room(long totalBytes, long usableBytes, long totalFiles, long usableFiles) {
  // struct statvfs on 64-bit Linux: words of 8 bytes, of which these count, and more behind.
  private static final int STRUCT_BYTES = 256;
  private static final long FRAGMENT_BYTES_AT = 8;
  private static final long FRAGMENTS_AT = 16;
  private static final long FRAGMENTS_USABLE_AT = 32;
  private static final long FILES_AT = 40;
  private static final long FILES_USABLE_AT = 56;

  /** Asks where it is. */
  @FunctionalInterface
  public interface Asking {
    Room of(Path directory) throws IOException;
  }

  /** Asks the kernel: the JDK does not tell how many files there may be. */
  @SuppressWarnings("restricted")
  static Room ofKernel(Path directory) throws IOException {
    Linker linker = Linker.nativeLinker();
    MethodHandle statvfs =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("statvfs"),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment struct = arena.allocate(STRUCT_BYTES, Long.BYTES);
      int result = (int) statvfs.invokeExact(arena.allocateFrom(directory.toString()), struct);
      if (result != 0) {
        throw new IOException("statvfs: the file system of " + directory + " does not answer");
      }
      long fragment = word(struct, FRAGMENT_BYTES_AT);
      return new Room(
          word(struct, FRAGMENTS_AT) * fragment,
          word(struct, FRAGMENTS_USABLE_AT) * fragment,
          word(struct, FILES_AT),
          word(struct, FILES_USABLE_AT));
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  private static long word(MemorySegment struct, long at) {
    return struct.get(ValueLayout.JAVA_LONG, at);
  }
}
