package io.erda.pmem;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import jdk.nio.mapmode.ExtendedMapMode;

/** Creates and maps files of a {@link MappedDirectory}: space first, name second, mapping last. */
final class MappedFile {
  /** Bytes that are allocated in one call, so that a signal does not undo all of them. */
  private static final long STEP = 256L << 20;

  // Of linux/magic.h.
  private static final long TMPFS = 0x01021994L;
  private static final long RAMFS = 0x858458f6L;

  private static final int ZEROS = 1 << 20;
  private static final int SET_GROUP_ID = 02000;
  private static final int STICKY = 01000;
  private static final int OWNER_FILE = 0600;

  /** How the memory of one directory is mapped and made durable. */
  enum Kind {
    PAGE_CACHE,
    SYNCED,
    DAX;

    Survives survives() {
      return this == PAGE_CACHE ? Survives.PROCESS_CRASH : Survives.POWER_FAILURE;
    }
  }

  private MappedFile() {}

  /**
   * Creates {@code file} with {@code length} bytes that are allocated. The name appears when the
   * space is there, in one step, so that neither an error nor a kill leaves a part of a file
   * behind.
   */
  static void create(Path file, long length, Kind kind) throws IOException {
    try {
      if (!createNameless(file, length, kind)) {
        createNamed(file, length, kind);
      }
    } catch (OutOfSpaceException e) {
      throw outOfSpace(file, length, e);
    }
  }

  /** Whether the file system has nameless files that can be given a name; then it is done. */
  private static boolean createNameless(Path file, long length, Kind kind) throws IOException {
    int descriptor = Libc.open(file.getParent(), Libc.O_RDWR | Libc.O_TMPFILE);
    if (descriptor < 0) {
      return false;
    }
    try {
      allocate(descriptor, file, length, kind);
      int linked = Libc.link(descriptor, file);
      if (linked == -Libc.EEXIST) {
        Libc.check("linkat", linked, file);
      }
      return linked >= 0;
    } finally {
      Libc.close(descriptor);
    }
  }

  /** An error leaves nothing behind; a kill in the middle leaves a file that is too short. */
  static void createNamed(Path file, long length, Kind kind) throws IOException {
    int flags = Libc.O_RDWR | Libc.O_CREAT | Libc.O_EXCL;
    int descriptor = Libc.check("open", Libc.open(file, flags), file);
    boolean done = false;
    try {
      allocate(descriptor, file, length, kind);
      done = true;
    } finally {
      Libc.close(descriptor);
      if (!done) {
        Files.deleteIfExists(file);
      }
    }
  }

  /**
   * Where others than its owner may use a directory, which its set-group-ID bit says, they may read
   * and write the files in it, whatever the umask is; where its sticky bit is set too, they may
   * read them. Elsewhere a file stays as it is.
   */
  static void share(int descriptor, Path file) throws IOException {
    Map<String, Object> directory = Files.readAttributes(file.getParent(), "unix:mode,gid");
    int mode = (Integer) directory.get("mode");
    if ((mode & SET_GROUP_ID) == 0) {
      return;
    }
    int others = (mode & STICKY) != 0 ? 0044 : 0066;
    int shared =
        OWNER_FILE
            | ((mode & 0010) != 0 ? others & 0070 : 0)
            | ((mode & 0001) != 0 ? others & 0007 : 0);
    Path opened = Path.of("/proc/self/fd/" + descriptor);
    Map<String, Object> is = Files.readAttributes(opened, "unix:mode,gid");
    // Only its owner can share another user's file. Who can't use it is told so when they open it.
    if (!is.get("gid").equals(directory.get("gid"))) {
      Libc.changeGroup(descriptor, (Integer) directory.get("gid"));
    }
    if (((Integer) is.get("mode") & 0777) != shared) {
      Libc.fchmod(descriptor, shared);
    }
  }

  private static void allocate(int descriptor, Path file, long length, Kind kind)
      throws IOException {
    share(descriptor, file);
    if (!reserve(descriptor, file, length)) {
      writeZeros(descriptor, file, length);
    }
    if (kind.survives() == Survives.POWER_FAILURE) {
      Libc.check("fsync", Libc.fsync(descriptor), file);
    }
  }

  static OutOfSpaceException outOfSpace(Path file, long length, OutOfSpaceException e) {
    return new OutOfSpaceException(
        e.getMessage()
            + "; "
            + length
            + " bytes were asked for, the file system has "
            + usableBytes(file.getParent())
            + " usable bytes",
        e);
  }

  /** The name of the file system of an open file where that lives in memory; null elsewhere. */
  static String inMemory(int descriptor) {
    long type = Libc.fileSystemType(descriptor);
    return type == TMPFS ? "tmpfs" : type == RAMFS ? "ramfs" : null;
  }

  /** See {@link MemoryDirectory#boot}. */
  static int boot() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).hashCode() | 1;
    } catch (IOException e) {
      return 0;
    }
  }

  /** Asks a file system how much room it has. */
  private interface Room {
    long bytes(FileStore store) throws IOException;
  }

  /** How much room there is in a directory's file system for this user. */
  static long usableBytes(Path directory) {
    return room(directory, FileStore::getUsableSpace);
  }

  /** The same, with what the file system reserves for some users: surely nobody gets more. */
  static long unallocatedBytes(Path directory) {
    return room(directory, FileStore::getUnallocatedSpace);
  }

  /** Returns the largest number where the file system does not say, as one without a limit. */
  private static long room(Path directory, Room room) {
    try {
      FileStore store = Files.getFileStore(directory);
      return store.getTotalSpace() == 0 ? Long.MAX_VALUE : room.bytes(store);
    } catch (IOException e) {
      return Long.MAX_VALUE;
    }
  }

  /** Allocates a file's space; false where the file system can't do that without writing. */
  private static boolean reserve(int descriptor, Path file, long length) throws IOException {
    return reserve(descriptor, file, 0, length);
  }

  /** Allocates {@code length} bytes from {@code offset}; false as above. */
  static boolean reserve(int descriptor, Path file, long offset, long length) throws IOException {
    long done = 0;
    while (done < length) {
      long step = Math.min(STEP, length - done);
      int result = Libc.fallocate(descriptor, offset + done, step);
      if (result == -Libc.EOPNOTSUPP || result == -Libc.ENOSYS) {
        return false;
      }
      if (result != -Libc.EINTR) {
        Libc.check("fallocate", result, file);
        done += step;
      }
    }
    return true;
  }

  /** Ends with fsync: a file system may find out that it is full when it writes back. */
  static void writeZeros(int descriptor, Path file, long length) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment zeros = arena.allocate(ZEROS);
      long done = 0;
      while (done < length) {
        int step = (int) Math.min(ZEROS, length - done);
        int result = Libc.pwrite(descriptor, zeros, step, done);
        if (result != -Libc.EINTR) {
          done += Libc.check("pwrite", result, file);
        }
      }
    }
    Libc.check("fsync", Libc.fsync(descriptor), file);
  }

  /**
   * Maps an existing file at its full length. Its space is allocated first if it is not: a copy of
   * a store may have holes, and a store to a hole of a full file system is a SIGBUS.
   */
  static SegmentMemory map(Path file, Kind kind) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new FileSystemException(file.toString(), null, "not a regular file");
    }
    return mapFilled(file, fill(file), kind);
  }

  /** Maps a file whose space is allocated. */
  static SegmentMemory mapFilled(Path file, long length, Kind kind) throws IOException {
    Arena arena = Arena.ofShared();
    boolean done = false;
    try {
      MapMode mode = kind == Kind.DAX ? ExtendedMapMode.READ_WRITE_SYNC : MapMode.READ_WRITE;
      MemorySegment segment = map(file, mode, length, arena);
      SegmentMemory memory = memory(segment, arena, new Backing(file, 0, length), kind);
      if (kind == Kind.SYNCED) {
        // Otherwise pages are brought in together, by the megabyte; and what came together the
        // kernel also writes together, whichever byte of it was stored to.
        memory.readAlone(true);
      }
      done = true;
      return memory;
    } finally {
      if (!done) {
        arena.close();
      }
    }
  }

  private static MemorySegment map(Path file, MapMode mode, long length, Arena arena)
      throws IOException {
    return Uninterrupted.call(() -> {
      try (FileChannel channel =
          FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        return channel.map(mode, 0, length, arena);
      }
    });
  }

  private static SegmentMemory memory(
      MemorySegment segment, Arena arena, Backing backing, Kind kind) {
    return switch (kind) {
      case PAGE_CACHE -> new PageCacheMemory(segment, arena, backing);
      case SYNCED -> new SyncedMemory(segment, arena, backing);
      case DAX -> new DaxMemory(segment, arena, backing);
    };
  }

  private static long fill(Path file) throws IOException {
    int descriptor = Libc.check("open", Libc.open(file, Libc.O_RDWR), file);
    try {
      share(descriptor, file);
      long length = Files.size(file);
      if (length == 0) {
        throw new FileSystemException(
            file.toString(), null, "cannot be mapped: it is 0 bytes long, at least 1 is needed");
      }
      try {
        // Where the file system can't allocate, the file was written when it was created.
        reserve(descriptor, file, length);
      } catch (OutOfSpaceException e) {
        throw outOfSpace(file, length, e);
      }
      return length;
    } finally {
      Libc.close(descriptor);
    }
  }

  /**
   * Whether files in {@code directory} can be mapped with {@code MAP_SYNC}; tried on a file that
   * never has a name.
   */
  static boolean isDax(Path directory) throws IOException {
    int descriptor = Libc.open(directory, Libc.O_RDWR | Libc.O_TMPFILE);
    switch (-descriptor) {
      case Libc.EOPNOTSUPP, Libc.EISDIR, Libc.EINVAL -> {
        // No MAP_SYNC: every file system that has it has nameless files too.
        return false;
      }
      case Libc.ENOSPC, Libc.EDQUOT -> {
        return isDaxThoughFull(directory, descriptor);
      }
      default -> Libc.check("open", descriptor, directory);
    }
    try {
      return mapsSynchronously(Path.of("/proc/self/fd/" + descriptor), 4096);
    } finally {
      Libc.close(descriptor);
    }
  }

  /**
   * A store whose disk ran full must open all the same: tried on one of its files, which this does
   * not change.
   */
  private static boolean isDaxThoughFull(Path directory, int error) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        if (Files.isRegularFile(file) && Files.size(file) > 0) {
          return mapsSynchronously(file, 1);
        }
      }
    }
    Libc.check("open", error, directory);
    return false;
  }

  private static boolean mapsSynchronously(Path file, long length) {
    try (Arena arena = Arena.ofConfined()) {
      map(file, ExtendedMapMode.READ_WRITE_SYNC, length, arena);
      return true;
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }
}
