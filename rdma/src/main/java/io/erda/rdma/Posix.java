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
import java.lang.invoke.VarHandle;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * What the JDK lacks: locks that belong to an open file description (flock), so that two owners in
 * one JVM exclude each other as two processes do, and that end with the process however it ends.
 * Descriptors are closed on exec. Linux.
 */
@SuppressWarnings("restricted")
final class Posix {
  private static final int ENOENT = 2;
  private static final int O_RDWR = 2;
  private static final int O_DIRECTORY = 0x1_0000;
  private static final int O_NOFOLLOW = 0x2_0000;
  private static final int O_CLOEXEC = 0x8_0000;
  private static final int O_PATH = 0x20_0000;
  private static final int LOCK_EX = 2;
  private static final int LOCK_NB = 4;
  private static final int EINTR = 4;
  private static final int EWOULDBLOCK = 11;
  private static final int EFBIG = 27;
  private static final int ENOSPC = 28;
  private static final int EDQUOT = 122;
  private static final int PROT_READ_WRITE = 3;
  private static final int MAP_PRIVATE_FIXED_ANONYMOUS = 0x2 | 0x10 | 0x20;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
  private static final Linker.Option CAPTURE = Linker.Option.captureCallState("errno");
  private static final MethodHandle OPEN =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("open"),
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT),
          CAPTURE,
          Linker.Option.firstVariadicArg(2));
  private static final MethodHandle CLOSE =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("close"),
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT),
          CAPTURE);
  private static final MethodHandle FLOCK =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("flock"),
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT),
          CAPTURE);
  private static final MethodHandle FALLOCATE =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("fallocate"),
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG),
          CAPTURE);

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
            CAPTURE);
  }

  private Posix() {}

  /** Opens an existing file; a symbolic link is refused. */
  static int open(Path file) throws IOException {
    return open(file, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  }

  /** Opens a directory, to name what is in it by a short path. */
  static int openDirectory(Path directory) throws IOException {
    return open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  }

  private static int open(Path file, int flags) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int fd = (int) OPEN.invokeExact(state, arena.allocateFrom(file.toString()), flags);
      if (fd < 0 && (int) ERRNO.get(state, 0L) == ENOENT) {
        throw new NoSuchFileException(file.toString());
      }
      if (fd < 0) {
        throw failed("open " + file, state);
      }
      return fd;
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  static void close(int fd) {
    try (Arena arena = Arena.ofConfined()) {
      int ignored = (int) CLOSE.invokeExact(arena.allocate(STATE), fd);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Takes the exclusive lock of an open file; false when another holds it. Closing the descriptor
   * releases it.
   */
  static boolean tryLock(int fd) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      while ((int) FLOCK.invokeExact(state, fd, LOCK_EX | LOCK_NB) != 0) {
        int errno = (int) ERRNO.get(state, 0L);
        if (errno == EWOULDBLOCK) {
          return false;
        }
        if (errno != EINTR) {
          throw failed("flock", state);
        }
      }
      return true;
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Makes sure that the first bytes of an open file have space, so that no store into a mapping of
   * them fails for want of it; makes it that long if it is shorter.
   *
   * @return false, and nothing was done, when the file system can't say that without writing
   * @throws OutOfSpaceException when there is none, or the process's file-size limit forbids it
   */
  static boolean allocate(int fd, Path file, long bytes) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      while ((int) FALLOCATE.invokeExact(state, fd, 0, 0L, bytes) != 0) {
        int errno = (int) ERRNO.get(state, 0L);
        switch (errno) {
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
      return true;
    } catch (IOException e) {
      throw e;
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
        throw failed("mmap", state);
      }
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  private static IOException failed(String call, MemorySegment state) {
    return new IOException(call + ": errno " + (int) ERRNO.get(state, 0L));
  }
}
