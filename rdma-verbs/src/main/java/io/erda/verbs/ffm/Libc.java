package io.erda.verbs.ffm;

import static io.erda.verbs.ffm.Foreign.INT;
import static io.erda.verbs.ffm.Foreign.LONG;
import static io.erda.verbs.ffm.Foreign.function;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** Waiting for file descriptors, and mapping memory again. */
final class Libc {
  static final short POLLIN = 1;
  static final int POLLFD_BYTES = 8;
  static final int POLLFD_EVENTS = 4;
  static final int POLLFD_REVENTS = 6;
  private static final int EINTR = 4;
  private static final int EFD_NONBLOCK_CLOEXEC = 0x80800;

  private static final FunctionDescriptor OF_POLL = function(INT, LONG, LONG, INT);
  private static final MethodHandle POLL = plain("poll", OF_POLL);
  private static final MethodHandle POLL_WITH_ERRNO = libc("poll", OF_POLL);
  private static final MethodHandle EVENTFD = libc("eventfd", function(INT, INT, INT));
  private static final MethodHandle READ = libc("read", function(LONG, INT, LONG, LONG));
  private static final MethodHandle WRITE = libc("write", function(LONG, INT, LONG, LONG));
  private static final MethodHandle CLOSE = libc("close", function(INT, INT));

  private static final int PROT_NONE = 0;
  private static final int MAP_PRIVATE_ANONYMOUS_FIXED_NOREPLACE = 0x10_4022;
  private static final int MREMAP_MAYMOVE_FIXED = 3;

  private static final MethodHandle MMAP =
      libc("mmap", function(LONG, LONG, LONG, INT, INT, INT, LONG));

  /** Its last argument is one of any number; an integer is passed there as anywhere. */
  private static final MethodHandle MREMAP =
      libc("mremap", function(LONG, LONG, LONG, LONG, INT, LONG));

  private static final MethodHandle MUNMAP = libc("munmap", function(INT, LONG, LONG));

  private static MethodHandle libc(String symbol, FunctionDescriptor descriptor) {
    try {
      return Foreign.libc().withErrno(symbol, descriptor);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static MethodHandle plain(String symbol, FunctionDescriptor descriptor) {
    try {
      return Foreign.libc().plain(symbol, descriptor);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Waits for events. A call that keeps {@code errno} allocates where the JIT compiler does not see
   * through it, and this one stands in the hot path: so one that failed is made again to be told
   * why.
   *
   * @param fds the address of {@code count} structs pollfd
   * @param timeoutMs -1 for no end
   * @return how many are ready; 0 after a signal too
   */
  static int poll(long fds, int count, int timeoutMs) throws IOException {
    int ready;
    try {
      ready = (int) POLL.invokeExact(fds, (long) count, timeoutMs);
      if (ready < 0) {
        ready = (int) POLL_WITH_ERRNO.invokeExact(Foreign.state(), fds, (long) count, 0);
      }
    } catch (Throwable e) {
      throw Foreign.unexpected(e);
    }
    if (ready < 0) {
      if (Foreign.errnoOf(Foreign.state()) == EINTR) {
        return 0;
      }
      throw Foreign.failed("poll");
    }
    return ready;
  }

  static int eventfd() throws IOException {
    int fd;
    try {
      fd = (int) EVENTFD.invokeExact(Foreign.state(), 0, EFD_NONBLOCK_CLOEXEC);
    } catch (Throwable e) {
      throw Foreign.unexpected(e);
    }
    if (fd < 0) {
      throw Foreign.failed("eventfd");
    }
    return fd;
  }

  /** Reads 8 bytes of an event; nothing when there is none. */
  static void take(int fd, long to) {
    try {
      long ignored = (long) READ.invokeExact(Foreign.state(), fd, to, 8L);
    } catch (Throwable e) {
      throw Foreign.unexpected(e);
    }
  }

  /** Writes 8 bytes of an event; one that is full already is as good. */
  static void give(int fd, long from) {
    try {
      long ignored = (long) WRITE.invokeExact(Foreign.state(), fd, from, 8L);
    } catch (Throwable e) {
      throw Foreign.unexpected(e);
    }
  }

  static void close(int fd) {
    try {
      int ignored = (int) CLOSE.invokeExact(Foreign.state(), fd);
    } catch (Throwable e) {
      throw Foreign.unexpected(e);
    }
  }

  /** Reserves addresses; false when some of them are taken. */
  static boolean reserve(long address, long bytes) {
    long mapped;
    try {
      mapped =
          (long)
              MMAP.invokeExact(
                  Foreign.state(),
                  address,
                  bytes,
                  PROT_NONE,
                  MAP_PRIVATE_ANONYMOUS_FIXED_NOREPLACE,
                  -1,
                  0L);
    } catch (Throwable e) {
      throw Foreign.unexpected(e);
    }
    if (mapped != -1 && mapped != address) {
      // A kernel from before there was such a flag takes it for a wish.
      unmap(mapped, bytes);
    }
    return mapped == address;
  }

  /** Maps pages that are mapped shared once more, in place of what is there. */
  static void mapAgain(long from, long to, long bytes) throws IOException {
    long mapped;
    try {
      mapped =
          (long) MREMAP.invokeExact(Foreign.state(), from, 0L, bytes, MREMAP_MAYMOVE_FIXED, to);
    } catch (Throwable e) {
      throw Foreign.unexpected(e);
    }
    if (mapped != to) {
      throw Foreign.failed("mremap");
    }
  }

  static void unmap(long address, long bytes) {
    try {
      int ignored = (int) MUNMAP.invokeExact(Foreign.state(), address, bytes);
    } catch (Throwable e) {
      throw Foreign.unexpected(e);
    }
  }

  private Libc() {}
}
