package io.erda.rdma.shm;

import io.erda.pmem.Backing;
import io.erda.pmem.FailedStoreException;
import io.erda.pmem.MappedArena;
import io.erda.pmem.MappedFault;
import io.erda.pmem.MemoryGuard;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.UnmappedException;
import io.erda.pmem.libc.Libc;
import io.erda.rdma.rings.QueueLayout;
import io.erda.rdma.rings.RegistryLayout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/**
 * The registry of a serving device ({@link RegistryLayout}). Each server makes a new file and moves
 * it over the old one, so that peers of the old server keep the file that they have mapped. Owns
 * the mapping. The file stays after the end of the server, because it holds the next key sequence.
 *
 * <p>A server can start whatever file has the registry's name. A key must not be reused while a
 * peer lives that may have kept it, and such a peer has lived on this host since it got the key. So
 * the new sequence begins with the larger of two numbers: that of the old registry, if it is valid,
 * and that of the monotonic clock. This clock never shows the same time twice while the host runs,
 * and runs faster than regions can be registered.
 */
public final class ShmRegistry implements AutoCloseable {
  public static final String FILE = "registry";

  private static final String NEW = FILE + ".new";
  private static final long SEQUENCE_END = 1L << 46;

  /** The clock advances the sequence by one in 1024 ns. */
  private static final int CLOCK_SHIFT = 10;

  private final ShmDirectory directory;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment registry;
  private final long id;
  private final MemoryGuard faults = new MemoryGuard();
  private final boolean[] used = new boolean[RegistryLayout.SLOTS];
  private long nextSequence;
  private int cursor;

  private ShmRegistry(ShmDirectory directory, int descriptor, long id) throws IOException {
    this.directory = directory;
    this.id = id;
    this.nextSequence = id + 1;
    this.registry = map(descriptor, directory.file(FILE), arena);
    if (!faults.attempt(this, ShmRegistry::begin)) {
      FailedStoreException failure = storeFailure(directory, registry);
      MappedArena.close(arena);
      throw failure.getCause();
    }
  }

  private void begin() {
    registry.set(QueueLayout.INT, RegistryLayout.VERSION_OFFSET, RegistryLayout.VERSION);
    registry.set(QueueLayout.INT, RegistryLayout.SLOTS_OFFSET, RegistryLayout.SLOTS);
    // The file may be an old registry. Its keys must end before their slots change, and no sequence
    // number may be reused, even if this is interrupted at any point.
    endKeys(registry);
    QueueLayout.WORD.setRelease(registry, RegistryLayout.NEXT_SEQUENCE_OFFSET, nextSequence);
    QueueLayout.WORD.setRelease(registry, RegistryLayout.ID_OFFSET, id);
    QueueLayout.WORD.setRelease(registry, RegistryLayout.MAGIC_OFFSET, RegistryLayout.MAGIC);
  }

  private static void endKeys(MemorySegment registry) {
    for (int slot = 0; slot < RegistryLayout.SLOTS; slot++) {
      long at = RegistryLayout.slotOffset(slot) + RegistryLayout.KEY;
      if ((long) QueueLayout.WORD.getAcquire(registry, at) != 0) {
        QueueLayout.WORD.setVolatile(registry, at, 0L);
      }
    }
    // No later store, to a region's file or to a slot, becomes visible before the end of a key.
    VarHandle.fullFence();
  }

  private static MemorySegment map(int descriptor, Path file, Arena arena) throws IOException {
    boolean mapped = false;
    try (FileChannel channel = ShmDirectory.channel(descriptor, true)) {
      // A copy of the file may have holes, and a store into a hole raises SIGBUS when the disk is
      // full.
      if (!ShmDirectory.allocate(descriptor, file, RegistryLayout.BYTES)
          && channel.size() < RegistryLayout.BYTES) {
        writeZeros(channel, RegistryLayout.BYTES);
      }
      MemorySegment registry =
          channel.map(FileChannel.MapMode.READ_WRITE, 0, RegistryLayout.BYTES, arena);
      mapped = true;
      return registry;
    } catch (IOException e) {
      throw UnmappedException.of(file, e);
    } finally {
      if (!mapped) {
        MappedArena.close(arena);
      }
    }
  }

  /**
   * Replaces the registry of the directory; its key sequence goes on. The caller holds the
   * directory's lock.
   *
   * <p>Peers of an earlier server keep the file that they have mapped, and go on reading until they
   * learn of the new server. When the disk has no room for another file the old file is reused;
   * then all their keys end here.
   *
   * @param nowNs the time of the host's monotonic clock
   * @throws OutOfSpaceException when there is no room, and no old registry
   */
  static ShmRegistry create(ShmDirectory directory, long nowNs) throws IOException {
    long sequence = Math.max(storedSequence(directory), sequenceOf(nowNs));
    try {
      return replace(directory, sequence);
    } catch (IOException e) {
      int old = openOwn(directory);
      if (old < 0) {
        throw e;
      }
      try {
        return new ShmRegistry(directory, old, sequence);
      } finally {
        Libc.close(old);
      }
    }
  }

  /** Ends every key in the registry of the directory. The caller holds the directory's lock. */
  static void endAllKeys(ShmDirectory directory) throws IOException {
    int old = openOwn(directory);
    if (old < 0) {
      return;
    }
    Arena arena = Arena.ofShared();
    try (FileChannel channel = ShmDirectory.channel(old, true)) {
      MemorySegment registry =
          channel.map(FileChannel.MapMode.READ_WRITE, 0, RegistryLayout.BYTES, arena);
      if (!new MemoryGuard().attempt(registry, ShmRegistry::endKeys)) {
        throw storeFailure(directory, registry).getCause();
      }
    } finally {
      MappedArena.close(arena);
      Libc.close(old);
    }
  }

  private static ShmRegistry replace(ShmDirectory directory, long sequence) throws IOException {
    directory.clear(NEW);
    int fresh = directory.create(NEW);
    boolean done = false;
    try {
      ShmRegistry registry = new ShmRegistry(directory, fresh, sequence);
      if (Files.isDirectory(directory.at(FILE), LinkOption.NOFOLLOW_LINKS)) {
        directory.clear(FILE);
      }
      directory.rename(NEW, FILE);
      done = true;
      return registry;
    } finally {
      Libc.close(fresh);
      if (!done) {
        directory.delete(NEW);
      }
    }
  }

  /** Opens the existing registry. Returns its descriptor, or -1 when it can't be reused. */
  private static int openOwn(ShmDirectory directory) {
    int descriptor = -1;
    try {
      descriptor = directory.open(FILE, true);
      ShmDirectory.Attributes attributes = ShmDirectory.attributes(descriptor);
      // A file that has another name too, or another owner than the directory, is not reused.
      if (attributes.bytes() == RegistryLayout.BYTES
          && attributes.links() == 1
          && (attributes.userId() == Libc.effectiveUser()
              || attributes.userId() == directory.attributes().userId())) {
        return descriptor;
      }
    } catch (IOException e) {
      // There is no registry to which this user may write.
    }
    if (descriptor >= 0) {
      Libc.close(descriptor);
    }
    return -1;
  }

  private static long sequenceOf(long nowNs) {
    return 1 + (nowNs >>> CLOCK_SHIFT & (SEQUENCE_END >>> 1) - 1);
  }

  /** The next sequence number in the existing registry; 0 when it is invalid. */
  private static long storedSequence(ShmDirectory directory) {
    ByteBuffer head = ByteBuffer.allocate((int) RegistryLayout.FIRST_SLOT_OFFSET);
    int descriptor = -1;
    try {
      descriptor = directory.open(FILE, false);
      try (FileChannel channel = ShmDirectory.channel(descriptor, false)) {
        while (head.hasRemaining() && channel.read(head) >= 0) {}
      }
    } catch (IOException e) {
      return 0;
    } finally {
      if (descriptor >= 0) {
        Libc.close(descriptor);
      }
    }
    MemorySegment header = MemorySegment.ofArray(head.array());
    long magic = header.get(QueueLayout.LONG.withByteAlignment(1), RegistryLayout.MAGIC_OFFSET);
    long next =
        header.get(QueueLayout.LONG.withByteAlignment(1), RegistryLayout.NEXT_SEQUENCE_OFFSET);
    return magic == RegistryLayout.MAGIC && next > 0 && next < SEQUENCE_END ? next : 0;
  }

  /** Writes zeros to allocate space, so that no store into the mapping fails for lack of it. */
  public static void writeZeros(FileChannel channel, long bytes) throws IOException {
    ByteBuffer zeros = ByteBuffer.allocateDirect(1 << 16);
    for (long at = 0; at < bytes; ) {
      zeros.clear().limit((int) Math.min(zeros.capacity(), bytes - at));
      at += channel.write(zeros, at);
    }
  }

  long id() {
    return id;
  }

  /**
   * Adds a region, which peers can use from then on. Returns its key.
   *
   * @throws FailedStoreException when the file system has no room for a page of the registry, or
   *     failed
   */
  long add(Backing backing, long length, int access) {
    if (backing.file() == null) {
      throw new IllegalArgumentException("a region for peers needs a file to map");
    }
    if (length > backing.length()) {
      throw new IllegalArgumentException(
          "region of " + length + " bytes in a backing of " + backing.length());
    }
    byte[] name = name(backing.file());
    long inode = inode(backing.file().getFileName().toString());
    int slot = freeSlot();
    long key = RegistryLayout.key(nextSequence++, slot);
    long next = nextSequence;
    boolean shown =
        faults.attempt(
            registry,
            into -> {
              QueueLayout.WORD.setRelease(into, RegistryLayout.NEXT_SEQUENCE_OFFSET, next);
              writeSlot(into, slot, backing.offset(), length, inode, access, name, key);
            });
    if (!shown) {
      throw storeFailure(directory, registry);
    }
    used[slot] = true;
    return key;
  }

  /**
   * Writes a slot. The key is stored last, so a peer that sees the key sees the other fields, too.
   */
  public static void writeSlot(
      MemorySegment registry,
      int slot,
      long offset,
      long length,
      long inode,
      int access,
      byte[] name,
      long key) {
    long at = RegistryLayout.slotOffset(slot);
    registry.set(QueueLayout.LONG, at + RegistryLayout.FILE_OFFSET, offset);
    registry.set(QueueLayout.LONG, at + RegistryLayout.LENGTH, length);
    registry.set(QueueLayout.LONG, at + RegistryLayout.INODE, inode);
    registry.set(QueueLayout.INT, at + RegistryLayout.ACCESS, access);
    registry.set(QueueLayout.INT, at + RegistryLayout.NAME_LENGTH, name.length);
    MemorySegment.copy(
        name, 0, registry, ValueLayout.JAVA_BYTE, at + RegistryLayout.NAME, name.length);
    QueueLayout.WORD.setVolatile(registry, at + RegistryLayout.KEY, key);
  }

  private static FailedStoreException storeFailure(ShmDirectory directory, MemorySegment registry) {
    return MappedFault.ofStore(
        directory.file(FILE), directory.at("."), registry, 0, RegistryLayout.BYTES);
  }

  /**
   * Ends a key: no READ or WRITE that begins after this succeeds with it.
   *
   * @throws FailedStoreException when the key could not be taken back
   */
  void remove(long key) {
    int slot = RegistryLayout.slot(key);
    long at = RegistryLayout.slotOffset(slot) + RegistryLayout.KEY;
    if ((long) QueueLayout.WORD.getAcquire(registry, at) == key) {
      if (!faults.attempt(registry, shown -> QueueLayout.WORD.setVolatile(shown, at, 0L))) {
        throw storeFailure(directory, registry);
      }
      // Later stores to the region's file or to the slot do not become visible before the end of
      // the key.
      VarHandle.fullFence();
      used[slot] = false;
    }
  }

  private int freeSlot() {
    for (int i = 0; i < RegistryLayout.SLOTS; i++) {
      int slot = cursor;
      cursor = (cursor + 1) % RegistryLayout.SLOTS;
      if (!used[slot]) {
        return slot;
      }
    }
    throw new IllegalStateException("all " + RegistryLayout.SLOTS + " regions are in use");
  }

  /**
   * Returns the name of a region's file in the parent of the registry's directory. Peers look for
   * it only there, so a store that was moved, or has another path in a container, still works.
   */
  private byte[] name(Path file) {
    Path absolute = file.toAbsolutePath().normalize();
    Path around = directory.path().toAbsolutePath().normalize().getParent();
    if (!around.equals(absolute.getParent())) {
      throw new IllegalArgumentException(
          "a region for peers has its file in " + around + ", not " + absolute);
    }
    byte[] name = absolute.getFileName().toString().getBytes(StandardCharsets.UTF_8);
    if (name.length > RegistryLayout.NAME_BYTES_MAX) {
      throw new IllegalArgumentException(
          "a name of "
              + name.length
              + " bytes, at most "
              + RegistryLayout.NAME_BYTES_MAX
              + ": "
              + file);
    }
    return name;
  }

  private long inode(String name) {
    try {
      return directory.inodeAround(name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    MappedArena.close(arena);
  }
}
