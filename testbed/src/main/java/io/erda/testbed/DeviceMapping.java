package io.erda.testbed;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Maps a device of persistent memory (devdax). The JDK takes a file's size for what can be mapped,
 * and a device has none: so the C library is called.
 */
final class DeviceMapping {
  private static final int PROT_READ_WRITE = 3;
  private static final int MAP_SHARED = 1;
  private static final int O_RDWR = 2;

  private DeviceMapping() {}

  /** Maps all of {@code /dev/daxX.Y} for the life of the process. */
  static MemorySegment map(Path device) throws IOException {
    Path size = Path.of("/sys/bus/dax/devices", device.getFileName().toString(), "size");
    return map(device, Long.parseLong(Files.readString(size).strip()));
  }

  /** Maps so many bytes of a file for the life of the process. */
  static MemorySegment map(Path file, long bytes) throws IOException {
    Linker linker = Linker.nativeLinker();
    Linker.Option errno = Linker.Option.captureCallState("errno");
    MethodHandle open =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("open"),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT),
            errno);
    MethodHandle mmap =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("mmap"),
            FunctionDescriptor.of(
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_LONG),
            errno);
    StructLayout layout = Linker.Option.captureStateLayout();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(layout);
      int descriptor = (int) open.invokeExact(state, arena.allocateFrom(file.toString()), O_RDWR);
      require(descriptor >= 0, "open", file, layout, state);
      long address =
          (long) mmap.invokeExact(state, 0L, bytes, PROT_READ_WRITE, MAP_SHARED, descriptor, 0L);
      require(address != -1, "mmap", file, layout, state);
      return MemorySegment.ofAddress(address).reinterpret(bytes);
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable unexpected) {
      throw new IllegalStateException(unexpected);
    }
  }

  private static void require(
      boolean condition, String call, Path file, StructLayout layout, MemorySegment state)
      throws IOException {
    if (!condition) {
      long errno = layout.byteOffset(MemoryLayout.PathElement.groupElement("errno"));
      throw new IOException(
          file + ": " + call + ": errno " + state.get(ValueLayout.JAVA_INT, errno));
    }
  }
}
