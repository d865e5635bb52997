package io.erda.rdma;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Iterator;
import jdk.nio.mapmode.ExtendedMapMode;

/**
 * A requester's view of the responder's registry: maps it read-only, and the regions it shows. Owns
 * the registry's mapping.
 */
final class ShmRegistryView implements AutoCloseable {
  /** Regions that stay mapped after they were left. */
  private static final int LEFT_MAX = 4;

  private final Path directory;
  private final Arena arena;
  private final MemorySegment registry;

  /** The last ones left first: what they map may come back under another key. */
  private final ArrayDeque<RemoteRegion> left = new ArrayDeque<>();

  private ShmRegistryView(Path directory, Arena arena, MemorySegment registry) {
    this.directory = directory;
    this.arena = arena;
    this.registry = registry;
  }

  /** The view, or null when there is no registry with this ID (any more). */
  static ShmRegistryView open(Path directory, long id) {
    Arena arena = Arena.ofShared();
    MemorySegment registry =
        map(directory.resolve(ShmRegistry.FILE), 0, RegistryLayout.BYTES, false, arena);
    if (registry == null
        || RegistryLayout.validate(registry) != null
        || registry.get(QueueLayout.LONG, RegistryLayout.ID_OFFSET) != id) {
      arena.close();
      return null;
    }
    return new ShmRegistryView(directory, arena, registry);
  }

  MemorySegment registry() {
    return registry;
  }

  /** Maps what a key names, or null. */
  RemoteRegion reach(long key, boolean toWrite) {
    int slot = RegistryLayout.slot(key);
    if (key == 0 || slot >= RegistryLayout.SLOTS) {
      return null;
    }
    long at = RegistryLayout.slotOffset(slot);
    if ((long) QueueLayout.WORD.getAcquire(registry, at + RegistryLayout.KEY) != key) {
      return null;
    }
    long offset = registry.get(QueueLayout.LONG, at + RegistryLayout.FILE_OFFSET);
    long length = registry.get(QueueLayout.LONG, at + RegistryLayout.LENGTH);
    int access = registry.get(QueueLayout.INT, at + RegistryLayout.ACCESS);
    boolean writable = toWrite && (access & (Access.REMOTE_WRITE | Access.REMOTE_ATOMIC)) != 0;
    Path file = path(at);
    if (file == null) {
      return null;
    }
    RemoteRegion again = again(key, at, offset, length, access, toWrite);
    if (again != null) {
      return again;
    }
    Arena mapping = Arena.ofShared();
    MemorySegment memory = map(file, offset, length, writable, mapping);
    // The file that was mapped is the file that was registered only if the key is still valid: it
    // is revoked before a name is reused.
    if (memory == null
        || !isSameFile(file, at)
        || (long) QueueLayout.WORD.getAcquire(registry, at + RegistryLayout.KEY) != key) {
      mapping.close();
      return null;
    }
    return new RemoteRegion(
        key,
        registry.address() + at + RegistryLayout.KEY,
        memory,
        writable,
        memory.address(),
        length,
        access,
        registry.get(QueueLayout.LONG, at + RegistryLayout.INODE),
        offset,
        mapping);
  }

  /**
   * A file that was left and is used again: mapped as it is, its pages are there already. Where it
   * is mapped it exists, so no other file can have its inode number.
   */
  private RemoteRegion again(
      long key, long at, long offset, long length, int access, boolean toWrite) {
    long inode = registry.get(QueueLayout.LONG, at + RegistryLayout.INODE);
    VarHandle.acquireFence();
    if ((long) QueueLayout.WORD.getAcquire(registry, at + RegistryLayout.KEY) != key) {
      return null;
    }
    for (Iterator<RemoteRegion> each = left.iterator(); each.hasNext(); ) {
      RemoteRegion known = each.next();
      if (known.inode() == inode
          && known.fileOffset() == offset
          && known.length() == length
          && (known.writable() || !toWrite)) {
        each.remove();
        return known.under(key, registry.address() + at + RegistryLayout.KEY, access);
      }
    }
    return null;
  }

  /** A region is not used any more under its key. A few stay mapped. */
  void leave(RemoteRegion region) {
    left.addFirst(region);
    if (left.size() > LEFT_MAX) {
      left.removeLast().release();
    }
  }

  private Path path(long slotAt) {
    int length = registry.get(QueueLayout.INT, slotAt + RegistryLayout.PATH_LENGTH);
    if (length <= 0 || length > RegistryLayout.PATH_BYTES_MAX) {
      return null;
    }
    byte[] path = new byte[length];
    MemorySegment.copy(
        registry, ValueLayout.JAVA_BYTE, slotAt + RegistryLayout.PATH, path, 0, length);
    try {
      return directory.resolve(new String(path, StandardCharsets.UTF_8));
    } catch (InvalidPathException e) {
      return null;
    }
  }

  /** Whether the file of a key, which is mapped, still has its name. */
  boolean isCurrent(long key) {
    int slot = RegistryLayout.slot(key);
    if (slot >= RegistryLayout.SLOTS) {
      return false;
    }
    long at = RegistryLayout.slotOffset(slot);
    Path file = path(at);
    return file != null && isSameFile(file, at);
  }

  private boolean isSameFile(Path file, long slotAt) {
    try {
      return ShmRegistry.inode(file)
          == registry.get(QueueLayout.LONG, slotAt + RegistryLayout.INODE);
    } catch (UncheckedIOException e) {
      return false;
    }
  }

  /**
   * Null when the file can't be opened so, or is shorter: a store or load beyond its end would kill
   * the process.
   */
  private static MemorySegment map(
      Path file, long offset, long length, boolean writable, Arena arena) {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try (FileChannel channel =
            writable ? openToWrite(file) : FileChannel.open(file, StandardOpenOption.READ)) {
          if (offset < 0 || length < 0 || length > channel.size() - offset) {
            return null;
          }
          return writable
              ? mapToWrite(channel, offset, length, arena)
              : channel.map(FileChannel.MapMode.READ_ONLY, offset, length, arena);
        } catch (ClosedByInterruptException e) {
          interrupted |= Thread.interrupted();
        } catch (IOException e) {
          return null;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * With {@code MAP_SYNC} where the file system has it (DAX on persistent memory), as the responder
   * maps what it stores into. There the first store into an allocated block makes the file system
   * note that the block holds data. Through an ordinary mapping that note waits for the journal,
   * and a power failure before turns what the responder wrote back and acknowledged into zeros.
   */
  private static MemorySegment mapToWrite(
      FileChannel channel, long offset, long length, Arena arena) throws IOException {
    try {
      return channel.map(ExtendedMapMode.READ_WRITE_SYNC, offset, length, arena);
    } catch (UnsupportedOperationException e) {
      // This platform has no such mappings.
    } catch (IOException e) {
      if (!channel.isOpen() || e.getCause() instanceof OutOfMemoryError) {
        throw e; // Says nothing about the file system, so an ordinary mapping might be too weak.
      }
    }
    return channel.map(FileChannel.MapMode.READ_WRITE, offset, length, arena);
  }

  private static FileChannel openToWrite(Path file) throws IOException {
    return FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  @Override
  public void close() {
    left.forEach(RemoteRegion::release);
    arena.close();
  }
}
