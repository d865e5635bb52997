package io.erda.pmem;

import io.erda.pmem.libc.Errno;
import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.function.IntSupplier;

/**
 * Writes the bytes of a file once more. The kernel regards a page that it failed to write to the
 * device as written: it never tries again, and drops the page as soon as it needs the memory.
 *
 * <p>The bytes pass by the page cache ({@code O_DIRECT}). ext4 notes in the cache that a page's
 * blocks are allocated and were never written to. A failed write ends that note, so when such a
 * page is stored to and written again, its bytes reach the device, fsync(2) reports success, and
 * the blocks are still taken for ones without contents: after the next mount they are zeros. What
 * was written is read from the device and compared: a loop device reports a write as done that
 * filled its file system in the middle.
 */
final class SecondWrite {
  /** How many bytes are written at a time. */
  static final int STEP = 1 << 18;

  private static final int PAGE = 4096;

  /**
   * The kernel writes by way of the cache all the same where a page is in use, and drops the page
   * then, so that a further try has its way.
   */
  private static final int TRIES = 3;

  private final int descriptor;

  /** The same file, opened to pass by the page cache; negative where that is not possible. */
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
      int whole = read / PAGE * PAGE;
      if (whole > 0) {
        kept.keep(name, bytes, whole, at);
        writePages(whole, at);
        written += whole;
        at += whole;
      } else {
        if (read > 0 && at + read == length) {
          kept.keep(name, bytes, read, at);
          writeTail(read, at);
          written += read;
        }
        at += PAGE;
      }
    }
    FileErrors.check("fsync", Libc.fsync(descriptor), file);
    return written;
  }

  /** Reads up to a step. Returns how many bytes were read; 0 when the first page can't be read. */
  private int read(int from, MemorySegment to, long at) {
    int asked = (int) Math.min(STEP, (length - at + PAGE - 1) / PAGE * PAGE);
    int read = uninterrupted(() -> Libc.pread(from, to, asked, at));
    return (int) Math.clamp(read, 0, length - at);
  }

  private void writePages(int count, long at) throws IOException {
    for (int i = 0; i < TRIES; i++) {
      int result = writeDirectly(count, at);
      if (result < 0) {
        // They may be in memory no more.
        writeToMemory(count, at);
        if (!isNotDirect(result)) {
          FileErrors.check("pwrite", result, file);
        }
        return;
      }
      if (isOnDevice(count, at)) {
        return;
      }
    }
    writeToMemory(count, at);
    throw notOnDevice();
  }

  private int writeDirectly(int count, long at) {
    int done = 0;
    while (done < count) {
      MemorySegment rest = bytes.asSlice(done, count - done);
      long to = at + done;
      int result =
          direct < 0
              ? direct
              : uninterrupted(() -> Libc.pwrite(direct, rest, (int) rest.byteSize(), to));
      if (result < 0) {
        return result;
      }
      done += result;
    }
    return done;
  }

  /**
   * Whether the file system can't write without the page cache, and so never notes what ext4 does.
   */
  private static boolean isNotDirect(int result) {
    return Errno.EINVAL.is(result) || Errno.EOPNOTSUPP.is(result);
  }

  /**
   * Writes the bytes of the last page, of which the file has only a part. It can't pass by the page
   * cache, so the page is first dropped, with what is noted of it.
   */
  private void writeTail(int count, long at) throws IOException {
    Libc.zeroRange(descriptor, at, PAGE);
    writeToMemory(count, at);
    FileErrors.check("fsync", Libc.fsync(descriptor), file);
    if (direct >= 0 && !isOnDevice(count, at)) {
      throw notOnDevice();
    }
  }

  private boolean isOnDevice(int count, long at) {
    return read(direct, onDevice, at) >= count
        && bytes.asSlice(0, count).mismatch(onDevice.asSlice(0, count)) < 0;
  }

  private FailedFileSystemException notOnDevice() {
    return new FailedFileSystemException(
        file.toString(), "the device does not have what was written to it");
  }

  private void writeToMemory(int count, long at) throws IOException {
    KeptCopy.write(descriptor, file, bytes, count, at);
  }

  static int uninterrupted(IntSupplier call) {
    int result;
    do {
      result = call.getAsInt();
    } while (Errno.EINTR.is(result));
    return result;
  }
}
