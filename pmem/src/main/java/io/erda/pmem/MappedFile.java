package io.erda.pmem;

import io.erda.pmem.libc.Errno;
import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import jdk.nio.mapmode.ExtendedMapMode;

/**
 * Creates and maps files of a {@link MappedDirectory}. A file first gets its space, then its name,
 * and is mapped last.
 */
final class MappedFile {
  /**
   * The bytes that one call allocates. A signal undoes only the allocation of the interrupted call.
   */
  private static final long STEP = 256L << 20;

  // A constant of linux/magic.h.
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
   * Creates a file with {@code length} bytes that are allocated. The name appears in one step after
   * the space is allocated, so that neither an error nor a kill leaves a part of a file behind.
   */
  static void create(OpenDirectory directory, String name, long length, Kind kind)
      throws IOException {
    try {
      if (!createNameless(directory, name, length, kind)) {
        createNamed(directory, name, length, kind);
      }
    } catch (OutOfSpaceException e) {
      throw outOfSpace(directory, length, e);
    }
  }

  /**
   * Creates the file, or returns false where the file system can't give a name to a nameless file.
   */
  private static boolean createNameless(
      OpenDirectory directory, String name, long length, Kind kind) throws IOException {
    int descriptor = directory.createNameless();
    if (descriptor < 0) {
      return false;
    }
    try {
      allocate(descriptor, directory, name, length, kind);
      int linked = directory.link(descriptor, name);
      if (Errno.EEXIST.is(linked)) {
        FileErrors.check("linkat", linked, directory.file(name));
      }
      return linked >= 0;
    } finally {
      Libc.close(descriptor);
    }
  }

  /** An error leaves nothing behind; a kill in the middle leaves a file that is too short. */
  static void createNamed(OpenDirectory directory, String name, long length, Kind kind)
      throws IOException {
    int descriptor = directory.create(name);
    boolean done = false;
    try {
      allocate(descriptor, directory, name, length, kind);
      done = true;
    } finally {
      Libc.close(descriptor);
      if (!done) {
        directory.delete(name);
      }
    }
  }

  /**
   * Lets other users of a shared directory, which has the set-group-ID bit, read and write a file
   * in it, whatever the umask is; where its sticky bit is set too, they may only read it. Changes
   * nothing in another directory.
   */
  static void share(int descriptor, OpenDirectory directory, String name) throws IOException {
    FileStatus around = directory.status();
    int mode = around.mode();
    if ((mode & SET_GROUP_ID) == 0) {
      return;
    }
    int others = (mode & STICKY) != 0 ? 0044 : 0066;
    int shared =
        OWNER_FILE
            | ((mode & 0010) != 0 ? others & 0070 : 0)
            | ((mode & 0001) != 0 ? others & 0007 : 0);
    FileStatus is = FileStatus.of(descriptor, directory.file(name));
    // Only the owner of a file can share it. A user who may not use the file gets an error when
    // opening it.
    if (is.groupId() != around.groupId()) {
      Libc.fchown(descriptor, -1, around.groupId());
    }
    if ((is.mode() & 0777) != shared) {
      Libc.fchmod(descriptor, shared);
    }
  }

  /** Makes an existing file longer; see {@link MemoryDirectory#lengthen}. */
  static void lengthen(OpenDirectory directory, String name, long length, Kind kind)
      throws IOException {
    int descriptor = directory.open(name, true);
    Path file = directory.file(name);
    try {
      long from = FileStatus.of(descriptor, file).bytes();
      if (!reserve(descriptor, file, from, length - from)) {
        writeZeros(descriptor, file, from, length);
      }
      if (kind.survives() == Survives.POWER_FAILURE) {
        directory.sync(descriptor, name);
      }
    } catch (OutOfSpaceException e) {
      throw outOfSpace(directory, length, e);
    } finally {
      Libc.close(descriptor);
    }
  }

  private static void allocate(
      int descriptor, OpenDirectory directory, String name, long length, Kind kind)
      throws IOException {
    Path file = directory.file(name);
    share(descriptor, directory, name);
    if (!reserve(descriptor, file, length)) {
      writeZeros(descriptor, file, length);
    }
    if (kind.survives() == Survives.POWER_FAILURE) {
      FileErrors.check("fsync", Libc.fsync(descriptor), file);
    }
  }

  static OutOfSpaceException outOfSpace(
      OpenDirectory directory, long length, OutOfSpaceException e) {
    String asked = e.getMessage() + "; " + length + " bytes were asked for, ";
    return e.isOfFileSize()
        ? new OutOfSpaceException(
            asked + "the file-size limit of the process that asked (ulimit -f) is lower", e, true)
        : new OutOfSpaceException(asked + "the file system has " + directory.usable(), e);
  }

  /**
   * Returns the name of an open file's file system if that file system lives in memory; null
   * otherwise.
   */
  static String inMemory(int descriptor) {
    FileSystemStatus status = FileSystemStatus.of(descriptor);
    long type = status == null ? 0 : status.type();
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

  /**
   * Allocates the space of a file. Returns false when the file system can't do that without
   * writing.
   */
  private static boolean reserve(int descriptor, Path file, long length) throws IOException {
    return reserve(descriptor, file, 0, length);
  }

  /** Allocates {@code length} bytes from {@code offset}. Returns false as the method above. */
  static boolean reserve(int descriptor, Path file, long offset, long length) throws IOException {
    long done = 0;
    while (done < length) {
      long step = Math.min(STEP, length - done);
      int result = Libc.fallocate(descriptor, offset + done, step);
      if (Errno.EOPNOTSUPP.is(result) || Errno.ENOSYS.is(result)) {
        return false;
      }
      if (!Errno.EINTR.is(result)) {
        FileErrors.check("fallocate", result, file);
        done += step;
      }
    }
    return true;
  }

  /**
   * Writes zeros to the whole file, and then calls fsync(2), because a file system may find out
   * only when it writes back that it is full.
   */
  static void writeZeros(int descriptor, Path file, long length) throws IOException {
    writeZeros(descriptor, file, 0, length);
  }

  /** Writes zeros from {@code from} to {@code length}. */
  private static void writeZeros(int descriptor, Path file, long from, long length)
      throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment zeros = arena.allocate(ZEROS);
      long done = from;
      while (done < length) {
        int step = (int) Math.min(ZEROS, length - done);
        int result = Libc.pwrite(descriptor, zeros, step, done);
        if (!Errno.EINTR.is(result)) {
          done += FileErrors.check("pwrite", result, file);
        }
      }
    }
    FileErrors.check("fsync", Libc.fsync(descriptor), file);
  }

  /**
   * Maps an existing file at its full length. First allocates missing space, because a copied store
   * may have holes, and a store to a hole raises SIGBUS when the file system is full.
   */
  static SegmentMemory map(OpenDirectory directory, String name, Kind kind) throws IOException {
    int descriptor = directory.open(name, true);
    try {
      share(descriptor, directory, name);
      FileStatus is = FileStatus.of(descriptor, directory.file(name));
      long length = is.bytes();
      if (length == 0) {
        throw new NotAMemoryException(
            directory.file(name), "cannot be mapped: it is 0 bytes long, at least 1 is needed");
      }
      try {
        requireRoom(descriptor, directory, name, is);
        // The result is ignored: where the file system can't allocate space, the file got its space
        // when zeros were written at its creation.
        reserve(descriptor, directory.file(name), length);
      } catch (OutOfSpaceException e) {
        throw outOfSpace(directory, length, e);
      }
      return map(descriptor, directory, name, length, kind);
    } finally {
      Libc.close(descriptor);
    }
  }

  /**
   * Checks that the file system has room for the holes of a file before any of them is filled. A
   * file may have been given a length that nothing can hold, and would take all space.
   */
  private static void requireRoom(
      int descriptor, OpenDirectory directory, String name, FileStatus file)
      throws OutOfSpaceException {
    long usable = directory.usableBytes();
    // Compressed data takes less space than its length, and is no hole. Space that is allocated
    // and was never written to may count as a hole.
    if (file.bytes() - file.allocatedBytes() > usable) {
      long holes = holes(descriptor, file.bytes());
      if (holes > usable) {
        throw new OutOfSpaceException(
            directory.file(name) + ": has holes of " + holes + " bytes", null);
      }
    }
  }

  /** Returns the length of all holes of a file; 0 where the file system can't tell. */
  private static long holes(int descriptor, long length) {
    long holes = 0;
    long data = 0;
    while (data < length) {
      long hole = Libc.seekHole(descriptor, data);
      if (hole < 0) {
        return holes;
      }
      // There is no data behind the last hole.
      data = Math.min(length, Libc.seekData(descriptor, hole));
      data = data < 0 ? length : data;
      holes += Math.max(0, data - hole);
    }
    return holes;
  }

  /** Maps a file whose space is allocated. */
  static SegmentMemory mapFilled(OpenDirectory directory, String name, long length, Kind kind)
      throws IOException {
    int descriptor = directory.open(name, true);
    try {
      return map(descriptor, directory, name, length, kind);
    } finally {
      Libc.close(descriptor);
    }
  }

  private static SegmentMemory map(
      int descriptor, OpenDirectory directory, String name, long length, Kind kind)
      throws IOException {
    Arena arena = Arena.ofShared();
    boolean done = false;
    try {
      MapMode mode = kind == Kind.DAX ? ExtendedMapMode.READ_WRITE_SYNC : MapMode.READ_WRITE;
      MemorySegment segment = map(descriptor, mode, length, arena);
      Backing backing = new Backing(directory.file(name), 0, length, directory);
      SegmentMemory memory = memory(segment, arena, backing, kind);
      if (kind == Kind.SYNCED) {
        // Otherwise the kernel reads pages by the megabyte. It writes pages that it read together
        // back together, even if only one byte of them was stored to.
        memory.readAlone(true);
      }
      done = true;
      return memory;
    } catch (IOException e) {
      throw UnmappedException.of(directory.file(name), e);
    } finally {
      if (!done) {
        MappedArena.close(arena);
      }
    }
  }

  private static MemorySegment map(int descriptor, MapMode mode, long length, Arena arena)
      throws IOException {
    return Uninterrupted.call(() ->
        OpenDirectory.withChannel(
            descriptor, true, channel -> channel.map(mode, 0, length, arena)));
  }

  private static SegmentMemory memory(
      MemorySegment segment, Arena arena, Backing backing, Kind kind) {
    return switch (kind) {
      case PAGE_CACHE -> new PageCacheMemory(segment, arena, backing);
      case SYNCED -> new SyncedMemory(segment, arena, backing);
      case DAX -> new DaxMemory(segment, arena, backing);
    };
  }

  /**
   * Whether files in {@code directory} can be mapped with {@code MAP_SYNC}. Tries it on a nameless
   * file.
   */
  static boolean isDax(OpenDirectory directory) throws IOException {
    int descriptor = directory.createNameless();
    switch (Errno.ofResult(descriptor)) {
      case EOPNOTSUPP, EISDIR, EINVAL -> {
        // Each file system with MAP_SYNC has nameless files too, so this one has no MAP_SYNC.
        return false;
      }
      case ENOSPC, EDQUOT -> {
        return isDaxThoughFull(directory, descriptor);
      }
      default -> FileErrors.check("open", descriptor, directory.path());
    }
    try {
      return mapsSynchronously(descriptor, 4096);
    } finally {
      Libc.close(descriptor);
    }
  }

  /**
   * Tries MAP_SYNC on an existing file, and changes nothing in it, because a store must open
   * although its disk is full.
   */
  private static boolean isDaxThoughFull(OpenDirectory directory, int error) throws IOException {
    for (String name : directory.names()) {
      FileStatus status = directory.status(name);
      if (status != null && status.isRegular() && status.bytes() > 0) {
        int descriptor = directory.open(name, true);
        try {
          return mapsSynchronously(descriptor, 1);
        } finally {
          Libc.close(descriptor);
        }
      }
    }
    FileErrors.check("open", error, directory.path());
    return false;
  }

  private static boolean mapsSynchronously(int descriptor, long length) {
    try (Arena arena = Arena.ofConfined()) {
      map(descriptor, ExtendedMapMode.READ_WRITE_SYNC, length, arena);
      return true;
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }
}
