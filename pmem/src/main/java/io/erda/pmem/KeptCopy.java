package io.erda.pmem;

import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/**
 * Keeps in a file the bytes that a {@link SecondWrite} is about to write, because the kernel drops
 * their page before it writes them: a process that was killed meanwhile would take the only copy
 * with it, and a power failure would find the page empty that was on the device before.
 *
 * <pre>
 *    0  magic "ERDAKEPT"          8
 *    8  CRC32C of all that follows 4
 *   12  bytes                      4   0: none
 *   16  offset in the file         8
 *   24  length of its name         4
 *   28  its name, ASCII
 * 4096  the bytes
 * </pre>
 */
final class KeptCopy {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final long MAGIC = 0x5450_454b_4144_5245L;
  private static final int CHECKSUM = 8;
  private static final int COUNT = 12;
  private static final int OFFSET = 16;
  private static final int NAME_LENGTH = 24;
  private static final int NAME = 28;
  private static final int NAME_LENGTH_MAX = 255;
  private static final int HEADER = 4096;

  /** The length of the file. */
  static final long BYTES = HEADER + SecondWrite.STEP;

  private final OpenDirectory directory;
  private final int descriptor;
  private final Path file;
  private final MemorySegment header;

  /**
   * @param descriptor the file, opened for writing; borrowed
   * @param name the name of the file
   */
  KeptCopy(OpenDirectory directory, int descriptor, String name, Arena arena) {
    this.directory = directory;
    this.descriptor = descriptor;
    this.file = directory.file(name);
    this.header = arena.allocate(HEADER, HEADER);
  }

  /**
   * Keeps durably the first {@code count} bytes, which belong at an offset of a file, in place of
   * others.
   */
  void keep(String name, MemorySegment bytes, int count, long at) throws IOException {
    header.fill((byte) 0);
    header.set(LONG, 0, MAGIC);
    header.set(INT, COUNT, count);
    header.set(LONG, OFFSET, at);
    header.set(INT, NAME_LENGTH, name.length());
    header.setString(NAME, name);
    header.set(INT, CHECKSUM, checksum(bytes, count));
    // Between the two the header has the wrong checksum.
    SecondWrite.store(descriptor, file, bytes, count, HEADER);
    SecondWrite.store(descriptor, file, header, HEADER, 0);
  }

  /**
   * Stores the bytes that are kept in their file, durably: the next ones take their place here.
   *
   * @param bytes room for them
   */
  void putBack(MemorySegment bytes) throws IOException {
    if (read(header, HEADER, 0) < HEADER || header.get(LONG, 0) != MAGIC) {
      return;
    }
    int count = header.get(INT, COUNT);
    int nameLength = header.get(INT, NAME_LENGTH);
    if (count < 1
        || count > SecondWrite.STEP
        || nameLength < 1
        || nameLength > NAME_LENGTH_MAX
        || read(bytes, count, HEADER) < count
        || header.get(INT, CHECKSUM) != checksum(bytes, count)) {
      return;
    }
    String name = header.getString(NAME);
    int to;
    try {
      to = directory.open(name, true);
    } catch (NoSuchFileException e) {
      return;
    }
    try {
      // fsync(2) would tell of an earlier error.
      Libc.writeError(to);
      SecondWrite.store(to, directory.file(name), bytes, count, header.get(LONG, OFFSET));
    } finally {
      Libc.close(to);
    }
  }

  private int checksum(MemorySegment bytes, int count) {
    CRC32C checksum = new CRC32C();
    checksum.update(header.asSlice(COUNT).asByteBuffer());
    checksum.update(bytes.asSlice(0, count).asByteBuffer());
    return (int) checksum.getValue();
  }

  private int read(MemorySegment to, int count, long at) throws IOException {
    return FileErrors.check(
        "pread", SecondWrite.uninterrupted(() -> Libc.pread(descriptor, to, count, at)), file);
  }
}
