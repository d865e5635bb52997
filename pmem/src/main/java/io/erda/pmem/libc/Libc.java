package io.erda.pmem.libc;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * The calls to the C library that the JDK does not offer. No other class makes such calls. Linux on
 * a 64-bit machine. Any thread.
 *
 * <p>Each method returns what the call returned, or the negated errno where it failed ({@link
 * Errno}). Hot paths call only {@link #willNeed} and {@link #poll} of this class, which allocate
 * nothing.
 */
public final class Libc {
  public static final int O_RDONLY = 0;
  public static final int O_RDWR = 2;
  public static final int O_CREAT = 0x40;
  public static final int O_EXCL = 0x80;
  public static final int O_NONBLOCK = 0x800;
  public static final int O_PATH = 0x200000;
  public static final int O_DIRECTORY = directoryFlag(System.getProperty("os.arch"));

  /** This flag is twice {@link #O_DIRECTORY} on every 64-bit machine. */
  public static final int O_NOFOLLOW = 2 * O_DIRECTORY;

  /** The offset in the file, the length and the address in memory are then multiples of 4096. */
  public static final int O_DIRECT = directFlag(System.getProperty("os.arch"));

  public static final int O_TMPFILE = 0x400000 | O_DIRECTORY;
  private static final int O_CLOEXEC = 0x80000;

  /** Passed instead of an open directory: names are relative to the working directory. */
  public static final int AT_FDCWD = -100;

  public static final int AT_SYMLINK_NOFOLLOW = 0x100;
  public static final int AT_REMOVEDIR = 0x200;
  public static final int AT_EMPTY_PATH = 0x1000;
  private static final int AT_SYMLINK_FOLLOW = 0x400;
  private static final int FALLOC_FL_ZERO_RANGE_KEEP_SIZE = 0x10 | 0x1;
  private static final int SEEK_DATA = 3;
  private static final int SEEK_HOLE = 4;

  /** Type, mode, links, user, group, inode, size and allocated blocks. */
  private static final int STATX_ASKED =
      0x001 | 0x002 | 0x004 | 0x008 | 0x010 | 0x100 | 0x200 | 0x400;

  private static final int STATX_BYTES = 256;
  private static final int STATFS_BYTES = 120;

  private static final int LOCK_SH = 1;
  private static final int LOCK_EX = 2;
  private static final int LOCK_NB = 4;
  private static final int LOCK_UN = 8;

  private static final int SYNC_FILE_RANGE_WAIT_BEFORE = 1;

  /** An offset behind the end of every file. */
  private static final long NOWHERE = 1L << 60;

  public static final int PROT_NONE = 0;
  public static final int PROT_READ_WRITE = 3;
  public static final int MAP_SHARED = 1;
  public static final int MAP_PRIVATE = 2;
  public static final int MAP_FIXED = 0x10;
  public static final int MAP_ANONYMOUS = 0x20;
  public static final int MAP_NORESERVE = 0x4000;
  public static final int MAP_FIXED_NOREPLACE = 0x10_0000;
  private static final int MREMAP_MAYMOVE_FIXED = 3;

  private static final int MADV_NORMAL = 0;
  private static final int MADV_RANDOM = 1;
  private static final int MADV_WILLNEED = 3;
  private static final int MADV_REMOVE = 9;
  private static final int MADV_POPULATE_WRITE = 23;

  private static final int EFD_NONBLOCK_CLOEXEC = 0x80800;
  private static final int AF_UNIX = 1;
  private static final int SOCK_DGRAM_CLOEXEC = 2 | 0x80000;
  private static final int MSG_DONTWAIT_NOSIGNAL = 0x40 | 0x4000;

  /** A length that no text of an error reaches. */
  private static final int WORDS_BYTES_MAX = 1024;

  /** Selects the nice level of a thread; this class passes the calling thread. */
  private static final int PRIO_PROCESS = 0;

  private static final int CALLER = 0;

  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;
  private static final Linker LINKER = Linker.nativeLinker();
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final long ERRNO =
      STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

  /**
   * One shape for all calls, because linking a shape costs time when a process starts. An argument,
   * int or pointer, is one 64-bit register; a function ignores those that it does not have, and an
   * int result is the low half of the register.
   */
  private static final MethodHandle CALL =
      LINKER.downcallHandle(
          FunctionDescriptor.of(WORD, WORD, WORD, WORD, WORD, WORD),
          Linker.Option.captureCallState("errno"));

  private static final MemorySegment OPENAT = find("openat");
  private static final MemorySegment CLOSE = find("close");
  private static final MemorySegment READ = find("read");
  private static final MemorySegment WRITE = find("write");
  private static final MemorySegment PREAD = find("pread");
  private static final MemorySegment PWRITE = find("pwrite");
  private static final MemorySegment FALLOCATE = find("fallocate");
  private static final MemorySegment LSEEK = find("lseek");
  private static final MemorySegment FSYNC = find("fsync");
  private static final MemorySegment SYNCFS = find("syncfs");
  private static final MemorySegment SYNC_FILE_RANGE = find("sync_file_range");
  private static final MemorySegment STATFS = find("statfs");
  private static final MemorySegment FSTATFS = find("fstatfs");
  private static final MemorySegment STATX = find("statx");
  private static final MemorySegment FLOCK = find("flock");
  private static final MemorySegment IOCTL = find("ioctl");
  private static final MemorySegment LINKAT = find("linkat");
  private static final MemorySegment RENAMEAT = find("renameat");
  private static final MemorySegment UNLINKAT = find("unlinkat");
  private static final MemorySegment MKDIRAT = find("mkdirat");
  private static final MemorySegment FCHMOD = find("fchmod");
  private static final MemorySegment FCHOWN = find("fchown");
  private static final MemorySegment GETEUID = find("geteuid");
  private static final MemorySegment MADVISE = find("madvise");
  private static final MemorySegment MUNMAP = find("munmap");
  private static final MemorySegment MREMAP = find("mremap");
  private static final MemorySegment EVENTFD = find("eventfd");
  private static final MemorySegment SOCKET = find("socket");
  private static final MemorySegment SETPRIORITY = find("setpriority");
  private static final MemorySegment STRERROR = find("strerror");
  private static final MemorySegment SCHED_GETCPU = find("sched_getcpu");
  private static final MemorySegment SCHED_GETAFFINITY = find("sched_getaffinity");
  private static final MemorySegment SCHED_SETAFFINITY = find("sched_setaffinity");

  /**
   * Receives the errno of calls whose errno is never read; several threads may write it at a time.
   */
  private static final MemorySegment UNREAD_STATE = Arena.global().allocate(STATE);

  private Libc() {}

  /**
   * The numbers above are those of Linux. Two of them differ between its 64-bit machines: Arm and
   * POWER have {@code O_DIRECTORY} and {@code O_NOFOLLOW} two bits below where x86-64, RISC-V and
   * z/Architecture have them.
   */
  static int directoryFlag(String machine) {
    String system = System.getProperty("os.name");
    if (!system.equals("Linux")) {
      throw new UnsupportedOperationException("mapped memory needs Linux, this is " + system);
    }
    return machine.equals("aarch64") || machine.startsWith("ppc64") ? 0x4000 : 0x10000;
  }

  /** Three kinds of machines have three numbers for this flag. */
  static int directFlag(String machine) {
    if (machine.equals("aarch64")) {
      return 0x10000;
    }
    return machine.startsWith("ppc64") ? 0x20000 : 0x4000;
  }

  private static MemorySegment find(String function) {
    return LINKER.defaultLookup().findOrThrow(function);
  }

  /** A file descriptor. The mode of a new file is 0660 less the umask. */
  public static int open(Path path, int flags) {
    return open(AT_FDCWD, path.toString(), flags);
  }

  /**
   * Opens a file whose name is relative to an open directory. A symbolic link is followed unless
   * {@code flags} say otherwise.
   */
  public static int open(int directory, String name, int flags) {
    return open(directory, name, flags, 0660);
  }

  /** As {@link #open(int, String, int)}, with the mode of a new file, less the umask. */
  public static int open(int directory, String name, int flags, int mode) {
    try (Arena arena = Arena.ofConfined()) {
      long address = name(arena, name);
      int result;
      do {
        result = call(OPENAT, directory, address, flags | O_CLOEXEC, mode, 0);
      } while (Errno.EINTR.is(result));
      return result;
    }
  }

  public static int close(int descriptor) {
    return unread(CLOSE, descriptor, 0, 0);
  }

  /**
   * Allocates the range. Existing bytes keep their value, new bytes read as zero, and the file
   * grows to contain the range.
   */
  public static int fallocate(int descriptor, long offset, long length) {
    return call(FALLOCATE, descriptor, 0, offset, length, 0);
  }

  /**
   * Makes the range zeros and drops its pages, those that are mapped too. The length of the file
   * does not change.
   */
  public static int zeroRange(int descriptor, long offset, long length) {
    return call(FALLOCATE, descriptor, FALLOC_FL_ZERO_RANGE_KEEP_SIZE, offset, length, 0);
  }

  /** Returns where the next data begins, at {@code offset} or behind it. */
  public static long seekData(int descriptor, long offset) {
    return captured(LSEEK, descriptor, offset, SEEK_DATA, 0, 0);
  }

  /**
   * Returns where the next hole begins, at {@code offset} or behind it; the length if none does.
   */
  public static long seekHole(int descriptor, long offset) {
    return captured(LSEEK, descriptor, offset, SEEK_HOLE, 0, 0);
  }

  /** How many bytes it read. {@code into} is native memory. */
  public static int pread(int descriptor, MemorySegment into, int length, long offset) {
    assert into.isNative() && length >= 0 && length <= into.byteSize()
        : length + " bytes into " + into;
    return call(PREAD, descriptor, into.address(), length, offset, 0);
  }

  /** How many bytes it wrote. {@code bytes} is native memory. */
  public static int pwrite(int descriptor, MemorySegment bytes, int length, long offset) {
    assert bytes.isNative() && length >= 0 && length <= bytes.byteSize()
        : length + " bytes of " + bytes;
    return call(PWRITE, descriptor, bytes.address(), length, offset, 0);
  }

  public static int fsync(int descriptor) {
    return call(FSYNC, descriptor, 0, 0, 0, 0);
  }

  /**
   * Returns the negated errno with which the kernel failed to write bytes of the file to its
   * device, if that happened since the file was opened by this descriptor, or earlier and no
   * process was told of it; otherwise 0. Tells it once. Writes nothing, and waits for nothing,
   * because no byte of the range that it names exists.
   */
  public static int writeError(int descriptor) {
    return call(SYNC_FILE_RANGE, descriptor, NOWHERE, 1, SYNC_FILE_RANGE_WAIT_BEFORE, 0);
  }

  /** Synchronises the whole file system that the open file is on. */
  public static int syncfs(int descriptor) {
    return call(SYNCFS, descriptor, 0, 0, 0, 0);
  }

  /**
   * Describes the file system that the open file is on.
   *
   * @param into receives the description; at least 256 bytes, of which a {@code struct statfs}
   *     takes 120
   */
  public static int fileSystem(int descriptor, MemorySegment into) {
    assert into.byteSize() >= STATFS_BYTES : into + " is too short for a struct statfs";
    return call(FSTATFS, descriptor, into.address(), 0, 0, 0);
  }

  /** Describes the file system that a file is on. */
  public static int fileSystem(String file, MemorySegment into) {
    assert into.byteSize() >= STATFS_BYTES : into + " is too short for a struct statfs";
    try (Arena arena = Arena.ofConfined()) {
      return call(STATFS, name(arena, file), into.address(), 0, 0, 0);
    }
  }

  /**
   * Describes a file.
   *
   * @param name relative to the open directory; empty for the open file itself
   * @param flags {@link #AT_SYMLINK_NOFOLLOW}, {@link #AT_EMPTY_PATH}
   * @param into gets the {@code struct statx} of 256 bytes
   */
  public static int status(int directory, String name, int flags, MemorySegment into) {
    assert into.byteSize() >= STATX_BYTES : into + " is too short for a struct statx";
    try (Arena arena = Arena.ofConfined()) {
      return call(STATX, directory, name(arena, name), flags, STATX_ASKED, into.address());
    }
  }

  /** A request to the file system, which reads from {@code argument} or stores there. */
  public static int ioctl(int descriptor, long request, MemorySegment argument) {
    return call(IOCTL, descriptor, request, argument.address(), 0, 0);
  }

  /** Sets the permissions, whatever the umask is. */
  public static int fchmod(int descriptor, int mode) {
    return call(FCHMOD, descriptor, mode, 0, 0, 0);
  }

  /** Gives an open file to another user and group; −1 leaves either as it is. */
  public static int fchown(int descriptor, int user, int group) {
    return call(FCHOWN, descriptor, user, group, 0, 0);
  }

  /** The user that this process acts as. */
  public static int effectiveUser() {
    return call(GETEUID, 0, 0, 0, 0, 0);
  }

  /**
   * An exclusive lock of the open file, not of the process; -EAGAIN when another opening has it. It
   * ends with the last descriptor.
   */
  public static int flock(int descriptor) {
    return lock(descriptor, LOCK_EX);
  }

  /** A shared lock, beside other shared ones; -EAGAIN when another opening has an exclusive one. */
  public static int flockShared(int descriptor) {
    return lock(descriptor, LOCK_SH);
  }

  /**
   * Ends a lock also where a process that is just being started still has a copy of the descriptor.
   */
  public static int unlock(int descriptor) {
    return unread(FLOCK, descriptor, LOCK_UN, 0);
  }

  private static int lock(int descriptor, int how) {
    int result;
    do {
      result = call(FLOCK, descriptor, how | LOCK_NB, 0, 0, 0);
    } while (Errno.EINTR.is(result));
    return result;
  }

  /** Maps memory. Returns its address. */
  public static long map(long address, long length, int protection, int flags, int descriptor) {
    return CallOfSix.run(CallOfSix.MMAP, address, length, protection, flags, descriptor, 0);
  }

  /**
   * Maps shared pages a second time, in place of any mapping at {@code to}. Returns the address.
   */
  public static long mapAgain(long from, long to, long bytes) {
    return captured(MREMAP, from, 0, bytes, MREMAP_MAYMOVE_FIXED, to);
  }

  public static void unmap(long address, long length) {
    unread(MUNMAP, address, length, 0);
  }

  /** Calls with one argument more than all others, linked when they are first used. */
  private static final class CallOfSix {
    private static final MethodHandle CALL =
        LINKER.downcallHandle(
            FunctionDescriptor.of(WORD, WORD, WORD, WORD, WORD, WORD, WORD),
            Linker.Option.captureCallState("errno"));

    static final MemorySegment MMAP = find("mmap");
    static final MemorySegment SENDTO = find("sendto");

    static long run(MemorySegment function, long a, long b, long c, long d, long e, long f) {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment state = arena.allocate(STATE);
        long result = (long) CALL.invokeExact(function, state, a, b, c, d, e, f);
        return result == -1 ? -state.get(ValueLayout.JAVA_INT, ERRNO) : result;
      } catch (Throwable unexpected) {
        throw unexpected(unexpected);
      }
    }
  }

  /**
   * Faults in the pages of a mapped range for writing. A kernel before 5.14 returns EINVAL and does
   * nothing.
   */
  public static int populateWrite(long address, long length) {
    return call(MADVISE, address, length, MADV_POPULATE_WRITE, 0, 0);
  }

  /**
   * Tells the kernel whether pages of a mapped range are used in random order. If so, the kernel
   * reads a missing page alone, into a separate piece of memory.
   */
  public static int advise(long address, long length, boolean random) {
    return call(MADVISE, address, length, random ? MADV_RANDOM : MADV_NORMAL, 0, 0);
  }

  /**
   * Begins to read the pages of a mapped range that are not in memory. Returns −1 when it failed;
   * the reason is not available. Allocates nothing, because gets call it.
   */
  public static int willNeed(long address, long length) {
    return unread(MADVISE, address, length, MADV_WILLNEED);
  }

  /**
   * Makes a hole in the file under a mapped range: all mappings of it load zeros, the space is
   * free.
   */
  public static int remove(long address, long length) {
    return call(MADVISE, address, length, MADV_REMOVE, 0, 0);
  }

  /**
   * Gives a file that was opened with {@link #O_TMPFILE} its name in an open directory, which must
   * be free.
   */
  public static int link(int descriptor, int directory, String name) {
    try (Arena arena = Arena.ofConfined()) {
      long from = name(arena, "/proc/self/fd/" + descriptor);
      return call(LINKAT, AT_FDCWD, from, directory, name(arena, name), AT_SYMLINK_FOLLOW);
    }
  }

  /** Renames within an open directory; a file that had the new name is replaced. */
  public static int rename(int directory, String from, String to) {
    try (Arena arena = Arena.ofConfined()) {
      return call(RENAMEAT, directory, name(arena, from), directory, name(arena, to), 0);
    }
  }

  /**
   * Removes a name from an open directory.
   *
   * @param flags {@link #AT_REMOVEDIR} for an empty directory, 0 for anything else
   */
  public static int unlink(int directory, String name, int flags) {
    try (Arena arena = Arena.ofConfined()) {
      return call(UNLINKAT, directory, name(arena, name), flags, 0, 0);
    }
  }

  /** Makes a directory in an open one. */
  public static int makeDirectory(int directory, String name, int mode) {
    try (Arena arena = Arena.ofConfined()) {
      return call(MKDIRAT, directory, name(arena, name), mode, 0, 0);
    }
  }

  // Waiting and waking.

  /** Makes a counter that threads can wait for by {@link #poll}. */
  public static int eventfd() {
    return call(EVENTFD, 0, EFD_NONBLOCK_CLOEXEC, 0, 0, 0);
  }

  /**
   * Reads bytes to an address. Allocates nothing. Returns −1 when it failed; the reason is not
   * available.
   */
  public static int read(int descriptor, long to, long bytes) {
    return unread(READ, descriptor, to, bytes);
  }

  /** Writes bytes from an address, as {@link #read} reads them. */
  public static int write(int descriptor, long from, long bytes) {
    return unread(WRITE, descriptor, from, bytes);
  }

  /**
   * Waits for events of file descriptors. A call that keeps errno may allocate, so this one does
   * not keep it, and is repeated with errno when it failed.
   *
   * @param fds the address of {@code count} structs pollfd
   * @param timeoutMs −1 for no end
   * @return how many are ready; 0 after a signal too
   */
  public static int poll(long fds, int count, int timeoutMs) {
    int ready = Polling.run(fds, count, timeoutMs);
    if (ready < 0) {
      ready = call(Polling.POLL, fds, count, 0, 0, 0);
    }
    return Errno.EINTR.is(ready) ? 0 : ready;
  }

  /** Linked when something is first polled. */
  private static final class Polling {
    static final MemorySegment POLL = find("poll");
    private static final MethodHandle CALL =
        LINKER.downcallHandle(
            POLL,
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT, WORD, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));

    static int run(long fds, long count, int timeoutMs) {
      try {
        return (int) CALL.invokeExact(fds, count, timeoutMs);
      } catch (Throwable unexpected) {
        throw unexpected(unexpected);
      }
    }
  }

  /** A socket for datagrams to Unix sockets. */
  public static int datagramSocket() {
    return call(SOCKET, AF_UNIX, SOCK_DGRAM_CLOEXEC, 0, 0, 0);
  }

  /**
   * Sends a datagram, without waiting. Returns how many bytes went out.
   *
   * @param address a {@code struct sockaddr_un}, of which {@code length} bytes count
   */
  public static int send(int socket, MemorySegment message, MemorySegment address, int length) {
    assert length <= address.byteSize() : length + " bytes of " + address;
    return (int)
        CallOfSix.run(
            CallOfSix.SENDTO,
            socket,
            message.address(),
            message.byteSize(),
            MSG_DONTWAIT_NOSIGNAL,
            address.address(),
            length);
  }

  // Threads.

  /** Sets the nice level of the calling thread, from 0 to 19. */
  public static int nice(int level) {
    return call(SETPRIORITY, PRIO_PROCESS, CALLER, level, 0, 0);
  }

  /** The processor that the calling thread runs on. */
  public static int currentProcessor() {
    return call(SCHED_GETCPU, 0, 0, 0, 0, 0);
  }

  /** Stores a bit for each processor that the calling thread may use. */
  public static int processors(MemorySegment mask) {
    return call(SCHED_GETAFFINITY, CALLER, mask.byteSize(), mask.address(), 0, 0);
  }

  /** Sets which processors the calling thread may use. */
  public static int setProcessors(MemorySegment mask) {
    return call(SCHED_SETAFFINITY, CALLER, mask.byteSize(), mask.address(), 0, 0);
  }

  // The calls themselves.

  private static long name(Arena arena, String text) {
    return arena.allocateFrom(text).address();
  }

  /** Returns the C library's text for an error. */
  static String words(int number) {
    try (Arena arena = Arena.ofConfined()) {
      long text = raw(STRERROR, arena.allocate(STATE), number, 0, 0, 0, 0);
      return MemorySegment.ofAddress(text).reinterpret(WORDS_BYTES_MAX).getString(0);
    }
  }

  /** Calls a function that returns an int: the high half of the register may hold anything. */
  private static int call(MemorySegment function, long a, long b, long c, long d, long e) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) raw(function, state, a, b, c, d, e);
      return result == -1 ? -state.get(ValueLayout.JAVA_INT, ERRNO) : result;
    }
  }

  /** Calls a function that returns a pointer or an offset. */
  private static long captured(MemorySegment function, long a, long b, long c, long d, long e) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      long result = raw(function, state, a, b, c, d, e);
      return result == -1 ? -state.get(ValueLayout.JAVA_INT, ERRNO) : result;
    }
  }

  /** Allocates nothing. */
  private static int unread(MemorySegment function, long a, long b, long c) {
    return (int) raw(function, UNREAD_STATE, a, b, c, 0, 0);
  }

  private static long raw(
      MemorySegment function, MemorySegment state, long a, long b, long c, long d, long e) {
    try {
      return (long) CALL.invokeExact(function, state, a, b, c, d, e);
    } catch (Throwable unexpected) {
      throw unexpected(unexpected);
    }
  }

  private static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return new IllegalStateException(e);
  }
}
