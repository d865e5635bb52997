package io.erda.rdma;

import io.erda.pmem.OutOfSpaceException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;

/**
 * What the JDK lacks: names relative to an open directory, and locks that belong to an open file
 * description (flock), so that two owners in one JVM exclude each other as two processes do, and
 * that end with the process however it ends. Descriptors are closed on exec. Linux on a 64-bit
 * machine.
 */
@SuppressWarnings("restricted")
final class Posix {
  /** Instead of an open directory: names are relative to the working directory. */
  static final int WORKING_DIRECTORY = -100;

  static final int O_RDONLY = 0;
  static final int O_RDWR = 2;
  static final int O_CREAT = 0x40;
  static final int O_EXCL = 0x80;
  static final int O_NONBLOCK = 0x800;
  static final int O_PATH = 0x20_0000;
  static final int O_DIRECTORY = directoryFlag(System.getProperty("os.arch"));
  static final int O_NOFOLLOW = 2 * O_DIRECTORY;
  private static final int O_CLOEXEC = 0x8_0000;

  private static final int AT_REMOVEDIR = 0x200;
  private static final int LOCK_SH = 1;
  private static final int LOCK_EX = 2;
  private static final int LOCK_NB = 4;

  private static final int EPERM = 1;
  private static final int ENOENT = 2;
  private static final int EINTR = 4;
  private static final int EIO = 5;
  private static final int EWOULDBLOCK = 11;
  private static final int EACCES = 13;
  private static final int EEXIST = 17;
  private static final int ENOTDIR = 20;
  private static final int EMFILE = 24;
  private static final int EFBIG = 27;
  private static final int ENOSPC = 28;
  private static final int EROFS = 30;
  private static final int ENOTEMPTY = 39;
  private static final int ELOOP = 40;
  private static final int ESHUTDOWN = 108;
  private static final int EUCLEAN = 117;
  private static final int EDQUOT = 122;
  private static final int PROT_READ_WRITE = 3;
  private static final int MAP_PRIVATE_FIXED_ANONYMOUS = 0x2 | 0x10 | 0x20;

  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;
  private static final Linker LINKER = Linker.nativeLinker();
  private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
  private static final long ERRNO =
      STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

  /**
   * One shape for all calls, because linking a shape is what costs time when a process starts. An
   * argument, int or pointer, is one 64-bit register; a call takes as many as it wants.
   */
  private static final MethodHandle CALL =
      LINKER.downcallHandle(
          FunctionDescriptor.of(WORD, WORD, WORD, WORD, WORD),
          Linker.Option.captureCallState("errno"));

  private static final MemorySegment OPENAT = find("openat");
  private static final MemorySegment CLOSE = find("close");
  private static final MemorySegment FLOCK = find("flock");
  private static final MemorySegment FALLOCATE = find("fallocate");
  private static final MemorySegment UNLINKAT = find("unlinkat");
  private static final MemorySegment RENAMEAT = find("renameat");
  private static final MemorySegment MKDIRAT = find("mkdirat");
  private static final MemorySegment FCHMOD = find("fchmod");
  private static final MemorySegment FCHOWN = find("fchown");
  private static final MemorySegment GETEUID = find("geteuid");

  /** Linked when it is needed, which is hardly ever. */
  private static final class Mapping {
    static final MethodHandle MMAP =
        LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("mmap"),
            FunctionDescriptor.of(
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_LONG),
            Linker.Option.captureCallState("errno"));
  }

  private Posix() {}

  /**
   * The two flags of open(2) that differ between 64-bit machines: Arm and POWER have {@code
   * O_DIRECTORY} and {@code O_NOFOLLOW}, the double of it, two bits below where x86-64, RISC-V and
   * z/Architecture have them.
   */
  static int directoryFlag(String machine) {
    return machine.equals("aarch64") || machine.startsWith("ppc64") ? 0x4000 : 0x1_0000;
  }

  private static MemorySegment find(String function) {
    return LINKER.defaultLookup().findOrThrow(function);
  }

  /**
   * Opens what a name stands for. A symbolic link is followed in what comes before the last part of
   * the name, and there too unless {@code flags} say otherwise.
   *
   * @param directory an open directory that a relative name begins in
   * @param file for messages
   * @param mode of a file that is created, less the umask
   */
  static int open(int directory, String name, int flags, int mode, Path file) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      long address = arena.allocateFrom(name).address();
      int result = EINTR;
      do {
        result = call(OPENAT, directory, address, flags | O_CLOEXEC, mode);
      } while (result == -EINTR);
      return check("open", result, file);
    }
  }

  static void close(int fd) {
    call(CLOSE, fd, 0, 0, 0);
  }

  /** Removes a name. A directory must be empty. */
  static void remove(int directory, String name, boolean isDirectory, Path file)
      throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      long address = arena.allocateFrom(name).address();
      int flags = isDirectory ? AT_REMOVEDIR : 0;
      check("unlink", call(UNLINKAT, directory, address, flags, 0), file);
    }
  }

  /** Renames within a directory; what had the new name before, a file, is replaced. */
  static void rename(int directory, String from, String to, Path file) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      long old = arena.allocateFrom(from).address();
      long fresh = arena.allocateFrom(to).address();
      check("rename", call(RENAMEAT, directory, old, directory, fresh), file);
    }
  }

  /** Makes a directory in an open one. */
  static void makeDirectory(int directory, String name, int mode, Path file) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      long address = arena.allocateFrom(name).address();
      check("mkdir", call(MKDIRAT, directory, address, mode, 0), file);
    }
  }

  /** Sets the mode of an open file, whatever the umask is; false when this user may not. */
  static boolean changeMode(int fd, int mode) {
    return call(FCHMOD, fd, mode, 0, 0) == 0;
  }

  /** Gives an open file to another user or group, −1 for neither; false when this user may not. */
  static boolean changeOwner(int fd, int user, int group) {
    return call(FCHOWN, fd, user, group, 0) == 0;
  }

  /** The user that this process acts as. */
  static int user() {
    return call(GETEUID, 0, 0, 0, 0);
  }

  /**
   * Takes the exclusive lock of an open file; false when another holds it. Closing the descriptor
   * releases it.
   */
  static boolean tryLock(int fd) throws IOException {
    return tryLock(fd, LOCK_EX);
  }

  /** Whether another holds the exclusive lock of a file that was opened to ask this. */
  static boolean isLocked(int fd) throws IOException {
    return !tryLock(fd, LOCK_SH);
  }

  private static boolean tryLock(int fd, int how) throws IOException {
    int result;
    do {
      result = call(FLOCK, fd, how | LOCK_NB, 0, 0);
    } while (result == -EINTR);
    if (result == -EWOULDBLOCK) {
      return false;
    }
    check("flock", result, Path.of("descriptor " + fd));
    return true;
  }

  /**
   * Makes sure that the first bytes of an open file have space, so that no store into a mapping of
   * them fails for want of it; makes it that long if it is shorter.
   *
   * @return false, and nothing was done, when the file system can't say that without writing
   * @throws OutOfSpaceException when there is none, or the process's file-size limit forbids it
   */
  static boolean allocate(int fd, Path file, long bytes) throws IOException {
    while (true) {
      int result = call(FALLOCATE, fd, 0, 0, bytes);
      switch (-result) {
        case 0 -> {
          return true;
        }
        case EINTR -> {}
        case ENOSPC, EDQUOT ->
            throw new OutOfSpaceException(file + ": no space left for " + bytes + " bytes", null);
        case EFBIG ->
            throw new OutOfSpaceException(
                file
                    + ": the file-size limit of this process (ulimit -f) is below "
                    + bytes
                    + " bytes",
                null);
        default -> {
          return false;
        }
      }
    }
  }

  /** Calls a function. Returns its result, or the negated errno where it failed. */
  private static int call(MemorySegment function, long a, long b, long c, long d) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) (long) CALL.invokeExact(function, state, a, b, c, d);
      return result == -1 ? -state.get(ValueLayout.JAVA_INT, ERRNO) : result;
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Replaces what a segment of whole pages maps by private zeros. The segment stays what and where
   * it is.
   */
  static void mapZerosOver(MemorySegment mapped) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      long at =
          (long)
              Mapping.MMAP.invokeExact(
                  state,
                  mapped.address(),
                  mapped.byteSize(),
                  PROT_READ_WRITE,
                  MAP_PRIVATE_FIXED_ANONYMOUS,
                  -1,
                  0L);
      if (at != mapped.address()) {
        throw new IOException("mmap: errno " + state.get(ValueLayout.JAVA_INT, ERRNO));
      }
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Returns {@code result} unless it is a negated errno.
   *
   * @throws IOException naming call, file and error; of the JDK's own kind where it has one
   */
  private static int check(String call, int result, Path file) throws IOException {
    if (result >= 0) {
      return result;
    }
    String name = file.toString();
    String reason = call + ": errno " + -result;
    throw switch (-result) {
      case ENOENT -> new NoSuchFileException(name);
      case EEXIST -> new FileAlreadyExistsException(name);
      case EPERM, EACCES -> new AccessDeniedException(name);
      case ENOTDIR -> new NotDirectoryException(name);
      case ENOTEMPTY -> new DirectoryNotEmptyException(name);
      case ELOOP ->
          new UntrustedFileException(name, "is a symbolic link, which is not followed here");
      case ENOSPC, EDQUOT -> new OutOfSpaceException(name + ": no space left", null);
      case EMFILE -> new FileSystemException(name, null, "Too many open files");
      case EIO -> new FailedFileSystemException(name, call + ": Input/output error");
      case EROFS -> new FailedFileSystemException(name, call + ": Read-only file system");
      case ESHUTDOWN ->
          new FailedFileSystemException(name, call + ": the file system was shut down");
      case EUCLEAN -> new FailedFileSystemException(name, call + ": Structure needs cleaning");
      default -> new FileSystemException(name, null, reason);
    };
  }
}
