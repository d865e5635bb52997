package io.erda.testbed;

import io.erda.pmem.FileErrors;
import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Maps a device of persistent memory (devdax). The JDK limits a mapping to the file's size, and a
 * device has none: so this calls the C library.
 */
final class DeviceMapping {
  private DeviceMapping() {}

  /** Maps all of {@code /dev/daxX.Y} for the life of the process. */
  static MemorySegment map(Path device) throws IOException {
    Path size = Path.of("/sys/bus/dax/devices", device.getFileName().toString(), "size");
    return map(device, Long.parseLong(Files.readString(size).strip()));
  }

  /** Maps this many bytes of a file for the life of the process. */
  static MemorySegment map(Path file, long bytes) throws IOException {
    int descriptor = FileErrors.check("open", Libc.open(file, Libc.O_RDWR), file);
    long address = Libc.map(0, bytes, Libc.PROT_READ_WRITE, Libc.MAP_SHARED, descriptor);
    if (address < 0) {
      FileErrors.check("mmap", (int) address, file);
    }
    return MemorySegment.ofAddress(address).reinterpret(bytes);
  }
}
