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

  /** How many bytes of this file are written at a time. */
  private final int step;

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
    // No file is dropped as a whole, so a superblock keeps one of its two copies.
    this.step = (int) Math.min(STEP, Math.max(PAGE, wholePages(length / 2)));
    this.bytes = arena.allocate(STEP, PAGE);
    this.onDevice = arena.allocate(STEP, PAGE);
  }

  /**
   * Writes every page of every file that can be read, with the bytes that it has, and waits until
   * the device has taken them. A page that can't be read is not in memory, so nothing of it can be
   * saved. No process may store into the files meanwhile; one that reads them may see what is on
   * the device.
   *
   * @param spare the name of a file that keeps what is being written, for {@link #putBack} if this
   *     is cut short
   * @return how many bytes were written
   * @throws OutOfSpaceException when there is no room for them
   * @throws IOException naming call and file, when the device does not take them
   */
  static long of(OpenDirectory directory, String spare) throws IOException {
    int opened = directory.open(spare, true);
    try (Arena arena = Arena.ofConfined()) {
      // fsync(2) would tell of an earlier error.
      Libc.writeError(opened);
      KeptCopy kept = new KeptCopy(directory, opened, spare, arena);
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

  /**
   * Writes what an earlier call of {@link #of} was writing when it was cut short, if it was. The
   * device may have zeros in its place.
   */
  static void putBack(OpenDirectory directory, String spare) throws IOException {
    int opened = directory.open(spare, false);
    try (Arena arena = Arena.ofConfined()) {
      new KeptCopy(directory, opened, spare, arena).putBack(arena.allocate(STEP, PAGE));
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
      int read = read(at);
      if (read == 0) {
        at += PAGE;
      } else {
        kept.keep(name, bytes, read, at);
        store(descriptor, file, bytes, read, at);
        written += read;
        at += read;
      }
    }
    compareWithDevice();
    return written;
  }

  /**
   * Throws when the device has other bytes than the page cache, or does not give them. Compares
   * nothing where the file system does not allow to read from the device.
   */
  private void compareWithDevice() throws IOException {
    long at = direct < 0 ? length : 0;
    while (at < length) {
      int read = read(at);
      if (read == 0) {
        at += PAGE;
      } else {
        long from = at;
        int result =
            uninterrupted(() -> Libc.pread(direct, onDevice, (int) wholePages(read), from));
        if (Errno.EINVAL.is(result)) {
          return;
        }
        int compared = Math.min(read, FileErrors.check("pread", result, file));
        if (compared == 0
            || bytes.asSlice(0, compared).mismatch(onDevice.asSlice(0, compared)) >= 0) {
          throw new FailedFileSystemException(
              file.toString(), "the device does not have what was written to it");
        }
        at += compared;
      }
    }
  }

  /**
   * Reads up to a step, whole pages but for the last one of the file. Returns how many bytes were
   * read; 0 when the first page can't be read.
   */
  private int read(long at) {
    int asked = (int) Math.min(step, wholePages(length - at));
    int read = uninterrupted(() -> Libc.pread(descriptor, bytes, asked, at));
    long rest = length - at;
    return read >= rest ? (int) rest : Math.max(0, read) / PAGE * PAGE;
  }

  /** Stores the first {@code count} bytes into pages that are dropped before, durably. */
  static void store(int descriptor, Path file, MemorySegment bytes, int count, long at)
      throws IOException {
    // Where this is not possible nothing is noted with a page either.
    Libc.zeroRange(descriptor, at, wholePages(count));
    int done = 0;
    while (done < count) {
      MemorySegment rest = bytes.asSlice(done, count - done);
      long offset = at + done;
      IntSupplier call = () -> Libc.pwrite(descriptor, rest, (int) rest.byteSize(), offset);
      done += FileErrors.check("pwrite", uninterrupted(call), file);
    }
    FileErrors.check("fsync", Libc.fsync(descriptor), file);
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
