package io.erda.pmem;

import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The calls to the C library that the JDK does not offer. Linux on a 64-bit machine.
 *
 * <p>Each returns what the call returned, or the negated errno where it failed; {@link #check} turns that into an exception that names
 * the call, the file and the error. None is on a hot path.
 */
final class Libc {
  static final int EPERM = 1;
  static final int ENOENT = 2;
  static final int EINTR = 4;
  static final int EAGAIN = 11;
  static final int EACCES = 13;
  static final int EEXIST = 17;
  static final int ENOTDIR = 20;
  static final int EISDIR = 21;
  static final int EINVAL = 22;
  static final int EFBIG = 27;
  static final int ENOSPC = 28;
  static final int EROFS = 30;
  static final int ENOSYS = 38;
  static final int EOPNOTSUPP = 95;
  static final int EDQUOT = 122;

  static final int O_RDONLY = 0;
  static final int O_RDWR = 2;
  static final int O_CREAT = 0x40;
  static final int O_EXCL = 0x80;
  static final int O_CLOEXEC = 0x80000;
  static final int O_DIRECTORY = directoryFlag();
  static final int O_TMPFILE = 0x400000 | O_DIRECTORY;

  private static final int AT_FDCWD = -100;
  private static final int AT_SYMLINK_FOLLOW = 0x400;
  private static final int LOCK_EX = 2;
  private static final int LOCK_NB = 4;

  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final AddressLayout POINTER = ValueLayout.ADDRESS;
  private static final Linker LINKER = Linker.nativeLinker();
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private static final MethodHandle OPEN =
      bind("open", FunctionDescriptor.of(INT, POINTER, INT, INT), Linker.Option.firstVariadicArg(2));
  private static final MethodHandle CLOSE = bind("close", FunctionDescriptor.of(INT, INT));
  private static final MethodHandle FALLOCATE =
      bind("fallocate", FunctionDescriptor.of(INT, INT, INT, LONG, LONG));
  private static final MethodHandle PWRITE =
      bind("pwrite", FunctionDescriptor.of(LONG, INT, POINTER, LONG, LONG));
  private static final MethodHandle FSYNC = bind("fsync", FunctionDescriptor.of(INT, INT));
  private static final MethodHandle FLOCK = bind("flock", FunctionDescriptor.of(INT, INT, INT));
  private static final MethodHandle LINKAT =
      bind("linkat", FunctionDescriptor.of(INT, INT, POINTER, INT, POINTER, INT));

  private Libc() {}

  /** The numbers above are those of Linux; this one alone differs between its 64-bit machines. */
  private static int directoryFlag() {
    String system = System.getProperty("os.name");
    if (!system.equals("Linux")) {
      throw new UnsupportedOperationException("mapped memory needs Linux, this is " + system);
    }
    return System.getProperty("os.arch").equals("aarch64") ? 0x4000 : 0x10000;
  }

  private static MethodHandle bind(
      String name, FunctionDescriptor type, Linker.Option... options) {
    Optional<MemorySegment> symbol = LINKER.defaultLookup().find(name);
    Linker.Option[] all = new Linker.Option[options.length + 1];
    all[0] = Linker.Option.captureCallState("errno");
    System.arraycopy(options, 0, all, 1, options.length);
    return LINKER.downcallHandle(symbol.orElseThrow(), type, all);
  }

  /** A file descriptor. The mode of a new file is 0660 less the umask. */
  static int open(Path path, int flags) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      MemorySegment name = arena.allocateFrom(path.toString());
      int result = (int) OPEN.invokeExact(state, name, flags | O_CLOEXEC, 0660);
      return result < 0 ? -errno(state) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static int close(int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) CLOSE.invokeExact(state, descriptor);
      return result < 0 ? -errno(state) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Allocates the range; bytes that are there keep their value, new ones read as zero, the file grows to contain it. */
  static int fallocate(int descriptor, long offset, long length) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) FALLOCATE.invokeExact(state, descriptor, 0, offset, length);
      return result < 0 ? -errno(state) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static long pwrite(int descriptor, MemorySegment bytes, long length, long offset) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      long result = (long) PWRITE.invokeExact(state, descriptor, bytes, length, offset);
      return result < 0 ? -errno(state) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static int fsync(int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) FSYNC.invokeExact(state, descriptor);
      return result < 0 ? -errno(state) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** An exclusive lock of the open file, not of the process; -EAGAIN when another opening has it. */
  static int flock(int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) FLOCK.invokeExact(state, descriptor, LOCK_EX | LOCK_NB);
      return result < 0 ? -errno(state) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Gives a file that was opened with {@link #O_TMPFILE} its name, which must be free. */
  static int link(int descriptor, Path path) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      MemorySegment from = arena.allocateFrom("/proc/self/fd/" + descriptor);
      MemorySegment to = arena.allocateFrom(path.toString());
      int result =
          (int) LINKAT.invokeExact(state, AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
      return result < 0 ? -errno(state) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private static int errno(MemorySegment state) {
    return (int) ERRNO.get(state, 0L);
  }

  private static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return new IllegalStateException(e);
  }

  /**
   * Returns {@code result} unless it is a negated errno.
   *
   * @throws IOException naming call, file and error; of the JDK's own kind where it has one
   */
  static long check(String call, long result, Path file) throws IOException {
    if (result >= 0) {
      return result;
    }
    int errno = (int) -result;
    String reason = call + ": " + text(errno) + " (errno " + errno + ")";
    throw switch (errno) {
      case ENOENT -> new NoSuchFileException(file.toString(), null, reason);
      case EEXIST -> new FileAlreadyExistsException(file.toString(), null, reason);
      case EPERM, EACCES, EROFS -> new AccessDeniedException(file.toString(), null, reason);
      case ENOTDIR -> new NotDirectoryException(file.toString());
      case ENOSPC, EDQUOT, EFBIG ->
          new OutOfSpaceException(file + ": " + reason, null);
      default -> new FileSystemException(file.toString(), null, reason);
    };
  }

  private static String text(int errno) {
    MethodHandle strerror =
        LINKER.downcallHandle(
            LINKER.defaultLookup().find("strerror").orElseThrow(),
            FunctionDescriptor.of(POINTER, INT));
    try {
      MemorySegment text = (MemorySegment) strerror.invokeExact(errno);
      return text.reinterpret(256).getString(0);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }
}
