package io.erda.rdma;

import io.erda.pmem.Backing;
import io.erda.pmem.OutOfSpaceException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * The registry of a serving device ({@link RegistryLayout}). A new file for each server, moved over
 * the old one: peers of the old server keep the file they mapped. Owns its mapping; the file stays,
 * because it says which key comes next.
 */
final class ShmRegistry implements AutoCloseable {
  static final String FILE = "registry";

  private final Path directory;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment registry;
  private final long id;
  private final boolean[] used = new boolean[RegistryLayout.SLOTS];
  private long nextSequence;
  private int cursor;

  private ShmRegistry(Path directory, Path file, long id) throws IOException {
    this.directory = directory;
    this.id = id;
    this.nextSequence = id + 1;
    this.registry = map(file, arena);
    registry.set(QueueLayout.INT, RegistryLayout.VERSION_OFFSET, RegistryLayout.VERSION);
    registry.set(QueueLayout.INT, RegistryLayout.SLOTS_OFFSET, RegistryLayout.SLOTS);
    // Of a registry that is used again: a key that was valid must not seem so any more when what it
    // stood for changes, and no number may come twice, wherever this is interrupted.
    for (int slot = 0; slot < RegistryLayout.SLOTS; slot++) {
      long at = RegistryLayout.slotOffset(slot) + RegistryLayout.KEY;
      if ((long) QueueLayout.WORD.getAcquire(registry, at) != 0) {
        QueueLayout.WORD.setVolatile(registry, at, 0L);
      }
    }
    QueueLayout.WORD.setRelease(registry, RegistryLayout.NEXT_SEQUENCE_OFFSET, nextSequence);
    QueueLayout.WORD.setRelease(registry, RegistryLayout.ID_OFFSET, id);
    QueueLayout.WORD.setRelease(registry, RegistryLayout.MAGIC_OFFSET, RegistryLayout.MAGIC);
  }

  private static MemorySegment map(Path file, Arena arena) throws IOException {
    int descriptor = Posix.open(file);
    boolean mapped = false;
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      // A copy of a store may have holes, and a store into one on a full disk is a SIGBUS.
      if (!Posix.allocate(descriptor, file, RegistryLayout.BYTES)
          && channel.size() < RegistryLayout.BYTES) {
        writeZeros(channel, RegistryLayout.BYTES);
      }
      MemorySegment registry =
          channel.map(FileChannel.MapMode.READ_WRITE, 0, RegistryLayout.BYTES, arena);
      mapped = true;
      return registry;
    } finally {
      Posix.close(descriptor);
      if (!mapped) {
        arena.close();
      }
    }
  }

  /**
   * Replaces the registry of the directory; its key sequence goes on. The caller holds the
   * directory's lock.
   *
   * <p>Peers of an earlier server keep the file that they mapped, and read on until they learn of
   * the new one. Where the disk has no room for another file the old one is used again: then all
   * their keys end here, and they learn of it by that.
   *
   * @throws OutOfSpaceException when there is no room, and none was there before
   */
  static ShmRegistry create(Path directory) throws IOException {
    Path file = directory.resolve(FILE);
    boolean exists = Files.exists(file);
    long sequence = exists ? nextSequence(file) : 1;
    try {
      return replace(directory, sequence);
    } catch (IOException e) {
      if (!exists || Files.size(file) != RegistryLayout.BYTES) {
        throw e;
      }
      return new ShmRegistry(directory, file, sequence);
    }
  }

  private static ShmRegistry replace(Path directory, long sequence) throws IOException {
    Path fresh = directory.resolve(FILE + ".new");
    Files.deleteIfExists(fresh);
    boolean done = false;
    try {
      Files.createFile(fresh);
      ShmRegistry registry = new ShmRegistry(directory, fresh, sequence);
      Files.move(fresh, directory.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
      done = true;
      return registry;
    } finally {
      if (!done) {
        Files.deleteIfExists(fresh);
      }
    }
  }

  private static long nextSequence(Path file) throws IOException {
    ByteBuffer head = ByteBuffer.allocate((int) RegistryLayout.FIRST_SLOT_OFFSET);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      while (head.hasRemaining() && channel.read(head) >= 0) {}
    }
    MemorySegment header = MemorySegment.ofArray(head.array());
    long magic = header.get(QueueLayout.LONG.withByteAlignment(1), RegistryLayout.MAGIC_OFFSET);
    long next =
        header.get(QueueLayout.LONG.withByteAlignment(1), RegistryLayout.NEXT_SEQUENCE_OFFSET);
    if (magic != RegistryLayout.MAGIC || next <= 0 || next >= 1L << 46) {
      throw new IOException(
          file + " is not a registry of regions; where no client runs, remove it");
    }
    return next;
  }

  /** Really there: no store into the mapping fails for want of space. */
  static void writeZeros(FileChannel channel, long bytes) throws IOException {
    ByteBuffer zeros = ByteBuffer.allocateDirect(1 << 16);
    for (long at = 0; at < bytes; ) {
      zeros.clear().limit((int) Math.min(zeros.capacity(), bytes - at));
      at += channel.write(zeros, at);
    }
  }

  long id() {
    return id;
  }

  /** Shows a region; the key. */
  long add(Backing backing, long length, int access) {
    if (backing.file() == null) {
      throw new IllegalArgumentException("a region for peers needs a file to map");
    }
    if (length > backing.length()) {
      throw new IllegalArgumentException(
          "region of " + length + " bytes in a backing of " + backing.length());
    }
    byte[] path = path(backing.file());
    int slot = freeSlot();
    long key = RegistryLayout.key(nextSequence++, slot);
    QueueLayout.WORD.setRelease(registry, RegistryLayout.NEXT_SEQUENCE_OFFSET, nextSequence);
    writeSlot(registry, slot, backing.offset(), length, inode(backing.file()), access, path, key);
    used[slot] = true;
    return key;
  }

  /** The key last: who sees it sees the rest. */
  static void writeSlot(
      MemorySegment registry,
      int slot,
      long offset,
      long length,
      long inode,
      int access,
      byte[] path,
      long key) {
    long at = RegistryLayout.slotOffset(slot);
    registry.set(QueueLayout.LONG, at + RegistryLayout.FILE_OFFSET, offset);
    registry.set(QueueLayout.LONG, at + RegistryLayout.LENGTH, length);
    registry.set(QueueLayout.LONG, at + RegistryLayout.INODE, inode);
    registry.set(QueueLayout.INT, at + RegistryLayout.ACCESS, access);
    registry.set(QueueLayout.INT, at + RegistryLayout.PATH_LENGTH, path.length);
    MemorySegment.copy(
        path, 0, registry, ValueLayout.JAVA_BYTE, at + RegistryLayout.PATH, path.length);
    QueueLayout.WORD.setVolatile(registry, at + RegistryLayout.KEY, key);
  }

  /** No READ or WRITE that begins after this succeeds with the key. */
  void remove(long key) {
    int slot = RegistryLayout.slot(key);
    long at = RegistryLayout.slotOffset(slot) + RegistryLayout.KEY;
    if ((long) QueueLayout.WORD.getAcquire(registry, at) == key) {
      QueueLayout.WORD.setVolatile(registry, at, 0L);
      used[slot] = false;
    }
  }

  private int freeSlot() {
    for (int i = 0; i < RegistryLayout.SLOTS; i++) {
      int slot = cursor++ & RegistryLayout.SLOTS - 1;
      if (!used[slot]) {
        return slot;
      }
    }
    throw new IllegalStateException("all " + RegistryLayout.SLOTS + " regions are in use");
  }

  /**
   * Relative to the directory where that can be said: a store that moves, or is seen elsewhere in a
   * container, still works.
   */
  private byte[] path(Path file) {
    Path absolute = file.toAbsolutePath().normalize();
    Path base = directory.toAbsolutePath().normalize();
    boolean near =
        absolute.startsWith(base)
            || base.getParent() != null && absolute.startsWith(base.getParent());
    byte[] path =
        (near ? base.relativize(absolute) : absolute).toString().getBytes(StandardCharsets.UTF_8);
    if (path.length > RegistryLayout.PATH_BYTES_MAX) {
      throw new IllegalArgumentException(
          "path of "
              + path.length
              + " bytes, at most "
              + RegistryLayout.PATH_BYTES_MAX
              + ": "
              + file);
    }
    return path;
  }

  static long inode(Path file) {
    try {
      return ((Number) Files.getAttribute(file, "unix:ino")).longValue();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    arena.close();
  }
}
