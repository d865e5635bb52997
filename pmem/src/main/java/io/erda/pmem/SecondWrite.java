package io.erda.pmem;

import io.erda.pmem.libc.Errno;
import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.function.IntSupplier;

/**
 * Writes the bytes of files once more. The kernel regards a page that it failed to write to the
 * device as written: it never tries again, and drops the page as soon as it needs the memory.
 *
 * <p>ext4 notes with a page that its blocks are allocated and were never written to. A failed write
 * ends that note, so when such a page is stored to and written again, its bytes reach the device,
 * fsync(2) reports success, and the blocks are still taken for ones without contents: after the
 * next mount they are zeros. So each page is dropped before it is stored to, which a {@link
 * KeptCopy} makes safe.
 *
 * <p>In the end all bytes are read from the device and compared: a loop device reports a write as
 * done that filled its file system in the middle.
 */
final class SecondWrite {
  /** How many bytes are written at a time. */
  static final int STEP = 1 << 20;

  private static final int PAGE = 4096;

  private final int descriptor;

  /** The same file, opened to read from the device; negative where that is not possible. */
  private final int direct;

  private final String name;
  private final Path file;
  private final long length;
  private final MemorySegment bytes;
  private final MemorySegment onDevice;

  private final KeptCopy kept;

  private SecondWrite(
      OpenDirectory directory, int descriptor, int direct, String name, KeptCopy kept, Arena arena)
      throws IOException {
    this.descriptor = descriptor;
    this.direct = direct;
    this.name = name;
    this.file = directory.file(name);
    this.kept = kept;
    this.length = FileStatus.of(descriptor, file).bytes();
    this.bytes = arena.allocate(STEP, PAGE);
    this.onDevice = arena.allocate(STEP, PAGE);
  }

  /**
   * Writes every page of every file that can be read, with the bytes that it has, and waits until
   * the device has taken them. A page that can't be read is not in memory, so nothing of it can be
   * saved. Nobody may store into the files meanwhile; who reads them may see what is on the device.
   *
   * @param spare the name of a file that keeps what is being written, for the next call if this one
   *     is cut short by a kill
   * @return how many bytes were written
   * @throws OutOfSpaceException when there is no room for them
   * @throws IOException naming call and file, when the device does not take them
   */
  static long of(OpenDirectory directory, String spare) throws IOException {
    int opened = directory.open(spare, true);
    try (Arena arena = Arena.ofConfined()) {
      KeptCopy kept = new KeptCopy(directory, opened, spare, arena);
      kept.putBack(arena.allocate(STEP, PAGE));
      long written = 0;
      for (String name : directory.memories()) {
        if (!name.equals(spare)) {
          written += of(directory, name, kept);
        }
      }
      return written;
    } finally {
      Libc.close(opened);
    }
  }

  private static long of(OpenDirectory directory, String name, KeptCopy kept) throws IOException {
    int descriptor = directory.open(name, true);
    int direct = OpenDirectory.openDirect(descriptor);
    try (Arena arena = Arena.ofConfined()) {
      return new SecondWrite(directory, descriptor, direct, name, kept, arena).all();
    } finally {
      if (direct >= 0) {
        Libc.close(direct);
      }
      Libc.close(descriptor);
    }
  }

  private long all() throws IOException {
    // fsync(2) would tell of the earlier error.
    Libc.writeError(descriptor);
    long written = 0;
    long at = 0;
    while (at < length) {
      int read = read(descriptor, bytes, at);
      if (read == 0) {
        at += PAGE;
      } else {
        kept.keep(name, bytes, read, at);
        // Where this is not possible nothing is noted with a page either.
        Libc.zeroRange(descriptor, at, wholePages(read));
        KeptCopy.write(descriptor, file, bytes, read, at);
        FileErrors.check("fsync", Libc.fsync(descriptor), file);
        written += read;
        at += read;
      }
    }
    compareWithDevice();
    return written;
  }

  /**
   * Throws when the device has other bytes than the page cache. Compares nothing where the file
   * system does not allow to read from the device.
   */
  private void compareWithDevice() throws FailedFileSystemException {
    long at = direct < 0 ? length : 0;
    while (at < length) {
      int read = Math.min(read(descriptor, bytes, at), read(direct, onDevice, at));
      if (bytes.asSlice(0, read).mismatch(onDevice.asSlice(0, read)) >= 0) {
        throw new FailedFileSystemException(
            file.toString(), "the device does not have what was written to it");
      }
      at += read == 0 ? PAGE : read;
    }
  }

  /**
   * Reads up to a step, whole pages but for the last one of the file. Returns how many bytes were
   * read; 0 when the first page can't be read.
   */
  private int read(int from, MemorySegment to, long at) {
    int asked = (int) Math.min(STEP, wholePages(length - at));
    int read = uninterrupted(() -> Libc.pread(from, to, asked, at));
    long rest = length - at;
    return read >= rest ? (int) rest : Math.max(0, read) / PAGE * PAGE;
  }

  private static long wholePages(long count) {
    return (count + PAGE - 1) / PAGE * PAGE;
  }

  static int uninterrupted(IntSupplier call) {
    int result;
    do {
      result = call.getAsInt();
    } while (Errno.EINTR.is(result));
    return result;
  }
}
