package io.erda.pmem;

import io.erda.pmem.libc.Errno;
import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileSystemException;
import java.nio.file.Path;

/**
 * Finds out why a load or store of mapped memory met SIGBUS. The signal says only that the page is
 * missing, so this class makes two tests. MADV_POPULATE_WRITE shows whether the page can be stored
 * to now, and changes no byte. A write to a nameless file in the same directory shows the error. It
 * does not write to the file itself, because that could overwrite bytes that another process stores
 * at the same time.
 *
 * <p>A file system that copies on write (btrfs with a snapshot, XFS with shared extents) has no
 * room for a copy when it is full; one that was shut down, or whose device fails, can't read or
 * write.
 */
public final class MappedFault {
  /** Whether a page can be stored to. */
  public enum Page {
    STORABLE,
    LOST,
    /** The kernel can't say (before 5.14). */
    UNKNOWN
  }

  /** The bytes that are written to the nameless file: more than file systems keep in an inode. */
  private static final int PROBE = 1 << 16;

  /** Bytes that must be free again before stores are tried again. */
  private static final int ROOM = 1 << 20;

  private static final long PAGE_BYTES = 4096;

  private MappedFault() {}

  /** Whether all pages of a range of mapped memory can be stored to now. Changes no byte. */
  public static Page look(MemorySegment memory, long offset, long length) {
    long first = memory.address() + offset & -PAGE_BYTES;
    long end = memory.address() + offset + length + PAGE_BYTES - 1 & -PAGE_BYTES;
    return switch (Errno.ofResult(Libc.populateWrite(first, end - first))) {
      case EINVAL, ENOSYS -> Page.UNKNOWN;
      case EFAULT -> Page.LOST;
      default -> Page.STORABLE;
    };
  }

  /** Whether a file is shorter than its mapping, because somebody shortened it. */
  public static boolean isShortened(Backing backing) {
    try {
      return backing.fileBytes() < backing.offset() + backing.length();
    } catch (IOException e) {
      // The file has no name any more, so nobody can have shortened it by its name.
      return false;
    }
  }

  /**
   * Returns the exception for a store that failed: a {@link NoRoomToStoreException} when the file
   * system is full, or when it reports no error.
   *
   * @param file its path in messages
   * @param directory a path that leads to its directory wherever that is now
   * @param memory the mapping of the file
   */
  public static FailedStoreException ofStore(
      Path file, Path directory, MemorySegment memory, long offset, long length) {
    String what = file + ": a store to its mapped memory failed (SIGBUS): ";
    OutOfSpaceException full;
    try {
      requireWritable(directory, file);
      write(directory, file, PROBE);
      full = new OutOfSpaceException(what + "the file system has no room for a copy of it", null);
    } catch (OutOfSpaceException e) {
      full = new OutOfSpaceException(what + e.getMessage(), e);
    } catch (IOException e) {
      return new FailedStoreException(new IOException(what + reason(e), e));
    }
    return new NoRoomToStoreException(full, () -> hasRoom(file, directory, memory, offset, length));
  }

  /**
   * Whether a file system that was full has room for another file of 1 MiB now.
   *
   * @param file one of its files
   * @param directory a path that leads to its directory wherever that is now
   */
  public static boolean hasRoom(Path file, Path directory) {
    try {
      write(directory, file, ROOM);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static boolean hasRoom(
      Path file, Path directory, MemorySegment memory, long offset, long length) {
    try {
      write(directory, file, ROOM);
      return memory.scope().isAlive() && look(memory, offset, length) != Page.LOST;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Throws when the file or its file system was made immutable, because stores to mapped memory
   * then fail although there is room.
   */
  private static void requireWritable(Path directory, Path file) throws IOException {
    int descriptor = Libc.open(directory.resolve(file.getFileName()), Libc.O_RDWR);
    if (descriptor >= 0) {
      Libc.close(descriptor);
    } else if (Errno.EPERM.is(descriptor) || Errno.EROFS.is(descriptor)) {
      FileErrors.check("open", descriptor, file);
    }
  }

  /** Returns the reason of an exception without the path, which would be that of the directory. */
  private static String reason(IOException e) {
    return e instanceof FileSystemException told && told.getReason() != null
        ? told.getReason()
        : e.getMessage();
  }

  /**
   * Writes bytes to a nameless file in a directory. The file is gone when this returns.
   *
   * @throws OutOfSpaceException when it is full
   * @throws IOException when it fails
   */
  private static void write(Path directory, Path beside, int bytes) throws IOException {
    int descriptor = Libc.open(directory, Libc.O_RDWR | Libc.O_TMPFILE);
    if (Errno.EOPNOTSUPP.is(descriptor)
        || Errno.EISDIR.is(descriptor)
        || Errno.EACCES.is(descriptor)) {
      // The file system has no nameless files, or this user may make none in this directory.
      return;
    }
    Path named = beside.toAbsolutePath().getParent();
    FileErrors.check("open", descriptor, named);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment ones = arena.allocate(bytes);
      // A file system may store zeros as a hole.
      ones.fill((byte) 1);
      for (int done = 0; done < bytes; ) {
        done +=
            FileErrors.check(
                "pwrite", Libc.pwrite(descriptor, ones.asSlice(done), bytes - done, done), named);
      }
      FileErrors.check("fsync", Libc.fsync(descriptor), named);
    } finally {
      Libc.close(descriptor);
    }
  }
}
