package io.erda.pmem;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;

/**
 * The calls to the C library that the JDK does not offer. Linux on a 64-bit machine.
 *
 * <p>Each returns what the call returned, or the negated errno where it failed; {@link #check}
 * turns that into an exception that names the call, the file and the error. None is on a hot path
 * but {@link #willNeed}.
 */
final class Libc {
  static final int EPERM = 1;
  static final int ENOENT = 2;
  static final int EINTR = 4;
  static final int EIO = 5;
  static final int EAGAIN = 11;
  static final int ENOMEM = 12;
  static final int EACCES = 13;
  static final int EFAULT = 14;
  static final int EBUSY = 16;
  static final int EEXIST = 17;
  static final int ENOTDIR = 20;
  static final int EISDIR = 21;
  static final int EINVAL = 22;
  static final int EFBIG = 27;
  static final int ENOSPC = 28;
  static final int EROFS = 30;
  static final int ENOSYS = 38;
  static final int ELOOP = 40;
  static final int EOPNOTSUPP = 95;
  static final int EDQUOT = 122;

  static final int O_RDONLY = 0;
  static final int O_RDWR = 2;
  static final int O_CREAT = 0x40;
  static final int O_EXCL = 0x80;
  static final int O_NONBLOCK = 0x800;
  static final int O_PATH = 0x200000;
  static final int O_CLOEXEC = 0x80000;
  static final int O_DIRECTORY = directoryFlag();

  /** On every 64-bit machine the double of {@link #O_DIRECTORY}. */
  static final int O_NOFOLLOW = 2 * O_DIRECTORY;

  static final int O_TMPFILE = 0x400000 | O_DIRECTORY;

  /** Instead of an open directory: names are relative to the working directory. */
  static final int AT_FDCWD = -100;

  static final int AT_SYMLINK_NOFOLLOW = 0x100;
  static final int AT_EMPTY_PATH = 0x1000;
  private static final int AT_SYMLINK_FOLLOW = 0x400;

  /** Type, mode, links, user, group, inode and size: what {@link FileStatus} holds. */
  private static final int STATX_ASKED = 0x001 | 0x002 | 0x004 | 0x008 | 0x010 | 0x100 | 0x200;

  private static final int LOCK_SH = 1;
  private static final int LOCK_EX = 2;
  private static final int LOCK_NB = 4;

  private static final long PROT_READ = 1;
  private static final long PROT_WRITE = 2;
  private static final long MAP_PRIVATE = 2;
  private static final long MAP_NORESERVE = 0x4000;

  private static final int MADV_NORMAL = 0;
  private static final int MADV_RANDOM = 1;
  private static final int MADV_WILLNEED = 3;
  private static final int MADV_REMOVE = 9;
  private static final int MADV_POPULATE_WRITE = 23;

  /** A struct statfs has 120 bytes, on every 64-bit machine, and begins with the type. */
  private static final int STATFS_BYTES = 256;

  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;
  private static final Linker LINKER = Linker.nativeLinker();
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final long ERRNO =
      STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

  /**
   * One shape for all calls, because linking a shape is what costs time when a process starts. An
   * argument, int or pointer, is one 64-bit register; a call takes as many as it wants, and the low
   * half of the result where it returns an int.
   */
  private static final MethodHandle CALL =
      LINKER.downcallHandle(
          FunctionDescriptor.of(WORD, WORD, WORD, WORD, WORD, WORD),
          Linker.Option.captureCallState("errno"));

  private static final MemorySegment OPENAT = find("openat");
  private static final MemorySegment CLOSE = find("close");
  private static final MemorySegment FALLOCATE = find("fallocate");
  private static final MemorySegment PWRITE = find("pwrite");
  private static final MemorySegment FSYNC = find("fsync");
  private static final MemorySegment SYNCFS = find("syncfs");
  private static final MemorySegment FSTATFS = find("fstatfs");
  private static final MemorySegment FLOCK = find("flock");
  private static final MemorySegment IOCTL = find("ioctl");
  private static final MemorySegment LINKAT = find("linkat");
  private static final MemorySegment RENAMEAT = find("renameat");
  private static final MemorySegment UNLINKAT = find("unlinkat");
  private static final MemorySegment MKDIRAT = find("mkdirat");
  private static final MemorySegment STATX = find("statx");
  private static final MemorySegment MADVISE = find("madvise");
  private static final MemorySegment FCHMOD = find("fchmod");
  private static final MemorySegment FCHOWN = find("fchown");
  private static final MemorySegment STRERROR = find("strerror");

  /** The errno of calls whose errno nobody reads: several threads may write it at a time. */
  private static final MemorySegment UNREAD_STATE = Arena.global().allocate(STATE);

  private Libc() {}

  /** The numbers above are those of Linux; this one alone differs between its 64-bit machines. */
  private static int directoryFlag() {
    String system = System.getProperty("os.name");
    if (!system.equals("Linux")) {
      throw new UnsupportedOperationException("mapped memory needs Linux, this is " + system);
    }
    return System.getProperty("os.arch").equals("aarch64") ? 0x4000 : 0x10000;
  }

  private static MemorySegment find(String function) {
    return LINKER.defaultLookup().findOrThrow(function);
  }

  /** A file descriptor. The mode of a new file is 0660 less the umask. */
  static int open(Path path, int flags) {
    return open(AT_FDCWD, path.toString(), flags);
  }

  /**
   * The same of a name that begins in an open directory. A symbolic link is followed unless {@code
   * flags} say otherwise.
   */
  static int open(int directory, String name, int flags) {
    try (Arena arena = Arena.ofConfined()) {
      long address = name(arena, name);
      int result;
      do {
        result = call(OPENAT, directory, address, flags | O_CLOEXEC, 0660, 0);
      } while (result == -EINTR);
      return result;
    }
  }

  static int close(int descriptor) {
    return call(CLOSE, descriptor, 0, 0, 0, 0);
  }

  /**
   * Allocates the range; bytes that are there keep their value, new ones read as zero, the file
   * grows to contain it.
   */
  static int fallocate(int descriptor, long offset, long length) {
    return call(FALLOCATE, descriptor, 0, offset, length, 0);
  }

  /** How many bytes it wrote. {@code bytes} is native memory. */
  static int pwrite(int descriptor, MemorySegment bytes, int length, long offset) {
    return call(PWRITE, descriptor, bytes.address(), length, offset, 0);
  }

  static int fsync(int descriptor) {
    return call(FSYNC, descriptor, 0, 0, 0, 0);
  }

  /** Synchronises the whole file system that the open file is on. */
  static int syncfs(int descriptor) {
    return call(SYNCFS, descriptor, 0, 0, 0, 0);
  }

  /** Describes the file system that the open file is on; null where that failed. */
  static FileSystemStatus fileSystem(int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment statfs = arena.allocate(STATFS_BYTES, Long.BYTES);
      int result = call(FSTATFS, descriptor, statfs.address(), 0, 0, 0);
      return result < 0 ? null : FileSystemStatus.of(statfs);
    }
  }

  /**
   * Describes a file.
   *
   * @param name begins in the open directory; empty for the open file itself
   * @param flags {@link #AT_SYMLINK_NOFOLLOW}, {@link #AT_EMPTY_PATH}
   * @param into what {@link FileStatus#of} reads
   */
  static int status(int directory, String name, int flags, MemorySegment into) {
    try (Arena arena = Arena.ofConfined()) {
      return call(STATX, directory, name(arena, name), flags, STATX_ASKED, into.address());
    }
  }

  /** A request to the file system, which reads from {@code argument} or stores there. */
  static int ioctl(int descriptor, long request, MemorySegment argument) {
    return call(IOCTL, descriptor, request, argument.address(), 0, 0);
  }

  /** Sets the permissions, whatever the umask is. */
  static int fchmod(int descriptor, int mode) {
    return call(FCHMOD, descriptor, mode, 0, 0, 0);
  }

  /** Gives the file to a group. */
  static int changeGroup(int descriptor, int group) {
    return call(FCHOWN, descriptor, -1, group, 0, 0);
  }

  /**
   * An exclusive lock of the open file, not of the process; -EAGAIN when another opening has it.
   */
  static int flock(int descriptor) {
    return call(FLOCK, descriptor, LOCK_EX | LOCK_NB, 0, 0, 0);
  }

  /** Takes the lock to look only: others may look too; -EAGAIN when somebody has it exclusively. */
  static int flockShared(int descriptor) {
    return call(FLOCK, descriptor, LOCK_SH | LOCK_NB, 0, 0, 0);
  }

  /**
   * Maps a file from its beginning so that it can be read and stored to, and no store reaches it.
   * Sets no memory aside: few pages are ever stored to. Returns the address, or the negated errno.
   */
  static long mapPrivately(int descriptor, long length) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      long address = Mapping.map(state, length, descriptor);
      return address == -1 ? -state.get(ValueLayout.JAVA_INT, ERRNO) : address;
    }
  }

  static void unmap(long address, long length) {
    call(Mapping.MUNMAP, address, length, 0, 0, 0);
  }

  /** mmap(2) takes an argument more than all others: linked only where somebody wants it. */
  private static final class Mapping {
    private static final MethodHandle CALL_OF_SIX =
        LINKER.downcallHandle(
            FunctionDescriptor.of(WORD, WORD, WORD, WORD, WORD, WORD, WORD),
            Linker.Option.captureCallState("errno"));

    private static final MemorySegment MMAP = find("mmap");
    static final MemorySegment MUNMAP = find("munmap");

    static long map(MemorySegment state, long length, int descriptor) {
      try {
        return (long)
            CALL_OF_SIX.invokeExact(
                MMAP,
                state,
                0L,
                length,
                PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_NORESERVE,
                (long) descriptor,
                0L);
      } catch (Error error) {
        throw error;
      } catch (Throwable unexpected) {
        throw new IllegalStateException(unexpected);
      }
    }
  }

  /**
   * Faults the pages of a mapped range in for writing; a kernel that can't (before 5.14) says so
   * and does nothing.
   */
  static int populateWrite(long address, long length) {
    return call(MADVISE, address, length, MADV_POPULATE_WRITE, 0, 0);
  }

  /**
   * Says whether pages of a mapped range are used in no order: then a page that is missing is read
   * alone, and into memory of its own.
   */
  static int advise(long address, long length, boolean random) {
    return call(MADVISE, address, length, random ? MADV_RANDOM : MADV_NORMAL, 0, 0);
  }

  /**
   * Begins to read the pages of a mapped range that are not in memory. Returns −1 when that can't
   * be; nobody asks why. Allocates nothing, because gets call it.
   */
  static int willNeed(long address, long length) {
    return (int) raw(MADVISE, UNREAD_STATE, address, length, MADV_WILLNEED, 0, 0);
  }

  /**
   * Makes a hole in the file under a mapped range: all mappings of it load zeros, the space is
   * free.
   */
  static int remove(long address, long length) {
    return call(MADVISE, address, length, MADV_REMOVE, 0, 0);
  }

  /**
   * Gives a file that was opened with {@link #O_TMPFILE} its name in an open directory, which must
   * be free.
   */
  static int link(int descriptor, int directory, String name) {
    try (Arena arena = Arena.ofConfined()) {
      long from = name(arena, "/proc/self/fd/" + descriptor);
      return call(LINKAT, AT_FDCWD, from, directory, name(arena, name), AT_SYMLINK_FOLLOW);
    }
  }

  /** Renames within an open directory; what had the new name before, a file, is replaced. */
  static int rename(int directory, String from, String to) {
    try (Arena arena = Arena.ofConfined()) {
      return call(RENAMEAT, directory, name(arena, from), directory, name(arena, to), 0);
    }
  }

  /** Removes a name, which is none of a directory, from an open directory. */
  static int unlink(int directory, String name) {
    try (Arena arena = Arena.ofConfined()) {
      return call(UNLINKAT, directory, name(arena, name), 0, 0, 0);
    }
  }

  /** Makes a directory in an open one. */
  static int makeDirectory(int directory, String name, int mode) {
    try (Arena arena = Arena.ofConfined()) {
      return call(MKDIRAT, directory, name(arena, name), mode, 0, 0);
    }
  }

  private static long name(Arena arena, String text) {
    return arena.allocateFrom(text).address();
  }

  private static int call(MemorySegment function, long a, long b, long c, long d, long e) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) raw(function, state, a, b, c, d, e);
      return result < 0 ? -state.get(ValueLayout.JAVA_INT, ERRNO) : result;
    }
  }

  private static long raw(
      MemorySegment function, MemorySegment state, long a, long b, long c, long d, long e) {
    try {
      return (long) CALL.invokeExact(function, state, a, b, c, d, e);
    } catch (Error error) {
      throw error;
    } catch (Throwable unexpected) {
      throw new IllegalStateException(unexpected);
    }
  }

  private static String text(int errno) {
    try (Arena arena = Arena.ofConfined()) {
      long text = raw(STRERROR, arena.allocate(STATE), errno, 0, 0, 0, 0);
      return MemorySegment.ofAddress(text).reinterpret(256).getString(0);
    }
  }

  /**
   * Returns {@code result} unless it is a negated errno.
   *
   * @throws IOException naming call, file and error; of the JDK's own kind where it has one
   */
  static int check(String call, int result, Path file) throws IOException {
    if (result >= 0) {
      return result;
    }
    int errno = -result;
    String reason = call + ": " + text(errno) + " (errno " + errno + ")";
    throw switch (errno) {
      case ENOENT -> new NoSuchFileException(file.toString(), null, reason);
      case EEXIST -> new FileAlreadyExistsException(file.toString(), null, reason);
      case EPERM, EACCES -> new AccessDeniedException(file.toString(), null, reason);
      case EROFS -> new UnwritableFileSystemException(file.toString(), reason);
      case ENOTDIR -> new NotDirectoryException(file.toString());
      case ELOOP ->
          new FileSystemException(
              file.toString(), null, "is a symbolic link, which is not followed here");
      case ENOSPC, EDQUOT -> new OutOfSpaceException(file + ": " + reason, null);
      case EFBIG -> new OutOfSpaceException(file + ": " + reason, null, true);
      default -> new FileSystemException(file.toString(), null, reason);
    };
  }
}
