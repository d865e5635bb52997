package io.erda.rdma;

import io.erda.pmem.OutOfSpaceException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/**
 * The file behind one shm connection: mapped by both ends, locked by the requester for as long as
 * it lives and may store anything. A lock that can be taken proves that the requester left: the
 * kernel drops it only after the process's memory is gone.
 *
 * <p>Owns a mapping and a descriptor; the descriptor may outlive the mapping.
 */
final class QueueFile {
  private static final String PREFIX = "queue-";
  private static final Pattern NAME = Pattern.compile("queue-[0-9]{1,10}-[0-9]{1,10}");
  private static final int NAMES_TRIED = 1 << 16;

  // Of the process, as its ID in the name is: a name is never used twice, because the server may
  // not have noticed yet that the last
  // connection of that name ended, and would refuse the new one or remove its file.
  private static final AtomicInteger NEXT = new AtomicInteger();

  private final Path file;
  private final Arena arena;
  private final MemorySegment queue;

  /** Who takes the file when its owner is gone: the server's for a peer's; null for one's own. */
  private final SpareQueueFiles spares;

  /** It was a spare of the server's, and is to be one again. */
  private final boolean lent;

  private int descriptor;

  private QueueFile(
      Path file,
      Arena arena,
      MemorySegment queue,
      int descriptor,
      SpareQueueFiles spares,
      boolean lent) {
    this.spares = spares;
    this.lent = lent;
    this.file = file;
    this.arena = arena;
    this.queue = queue;
    this.descriptor = descriptor;
  }

  static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }

  /** Where the next one of this process may be; whether it is free only its creation tells. */
  static Path nextName(Path directory) {
    return directory.resolve(
        PREFIX
            + ProcessHandle.current().pid()
            + "-"
            + (NEXT.getAndIncrement() & Integer.MAX_VALUE));
  }

  /**
   * A requester's: full of zeros that take real space, locked. New where there is room for it, else
   * one of the spares that the server keeps for that.
   *
   * @throws OutOfSpaceException when there is neither
   */
  static QueueFile obtain(Path directory) throws IOException {
    try {
      return create(directory);
    } catch (AccessDeniedException | NoSuchFileException e) {
      throw e;
    } catch (IOException e) {
      QueueFile spare = SpareQueueFiles.take(directory);
      if (spare == null) {
        throw e;
      }
      return spare;
    }
  }

  /** A new one. */
  static QueueFile create(Path directory) throws IOException {
    for (int tries = 0; tries < NAMES_TRIED; tries++) {
      Path file = nextName(directory);
      try (FileChannel channel =
          FileChannel.open(
              file,
              StandardOpenOption.CREATE_NEW,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE)) {
        QueueFile created = create(file, channel);
        if (created != null) {
          return created;
        }
      } catch (FileAlreadyExistsException e) {
        // Another connection of this process, or of one with the same ID in another namespace.
      }
    }
    throw new IOException(directory + ": no free name for a queue file");
  }

  /**
   * Null when a server that started just then took the unlocked file for a dead peer's and removed
   * it.
   */
  private static QueueFile create(Path file, FileChannel channel) throws IOException {
    Arena arena = Arena.ofShared();
    int descriptor = -1;
    try {
      descriptor = Posix.open(file);
      // A server that starts just now may hold the lock for a moment: it looks whether this file's
      // owner is dead.
      if (Posix.tryLock(descriptor) && Files.exists(file)) {
        if (!Posix.allocate(descriptor, file, QueueLayout.BYTES)) {
          ShmRegistry.writeZeros(channel, QueueLayout.BYTES);
        }
        MemorySegment queue =
            channel.map(FileChannel.MapMode.READ_WRITE, 0, QueueLayout.BYTES, arena);
        return new QueueFile(file, arena, queue, descriptor, null, false);
      }
    } catch (NoSuchFileException e) {
      // Removed by that server before it was locked.
    } catch (IOException | RuntimeException e) {
      release(arena, descriptor);
      Files.deleteIfExists(file);
      throw e;
    }
    release(arena, descriptor);
    return null;
  }

  private static void release(Arena arena, int descriptor) {
    arena.close();
    if (descriptor >= 0) {
      Posix.close(descriptor);
    }
  }

  /**
   * A spare that the caller has locked and named {@code file}: full of zeros. The descriptor is the
   * file's from here on, whatever happens.
   */
  static QueueFile lent(Path file, int descriptor) throws IOException {
    Arena arena = Arena.ofShared();
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      MemorySegment queue =
          channel.map(FileChannel.MapMode.READ_WRITE, 0, QueueLayout.BYTES, arena);
      return new QueueFile(file, arena, queue, descriptor, null, true);
    } catch (IOException | RuntimeException e) {
      release(arena, descriptor);
      throw e;
    }
  }

  /**
   * A peer's, or null when it is no plain file of the right size.
   *
   * @param spares who takes it when the peer is gone
   */
  static QueueFile open(Path file, SpareQueueFiles spares) throws IOException {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return null;
    }
    Arena arena = Arena.ofShared();
    int descriptor = -1;
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      if (channel.size() == QueueLayout.BYTES) {
        descriptor = Posix.open(file);
        return new QueueFile(
            file,
            arena,
            channel.map(FileChannel.MapMode.READ_WRITE, 0, QueueLayout.BYTES, arena),
            descriptor,
            spares,
            false);
      }
    } catch (IOException | RuntimeException e) {
      release(arena, descriptor);
      throw e;
    }
    release(arena, descriptor);
    return null;
  }

  Path file() {
    return file;
  }

  MemorySegment queue() {
    return queue;
  }

  /**
   * Whether somebody shortened the file while it was mapped, so that loads and stores met pages
   * that are gone. Then they find zeros from now on, which nobody else sees, whatever becomes of
   * the file.
   */
  boolean isShortened() {
    try {
      if (descriptor < 0
          || Files.size(Path.of("/proc/self/fd/" + descriptor)) >= QueueLayout.BYTES) {
        return false;
      }
      Posix.mapZerosOver(queue);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * For the responder: whether the requester provably left. Then the file becomes a spare, or is
   * removed when there are enough.
   */
  boolean isOwnerGone() {
    if (descriptor < 0) {
      return true;
    }
    try {
      if (!Posix.tryLock(descriptor)) {
        return false;
      }
      // Another process may have its name by now.
      if (!spares.keep(file, descriptor) && SpareQueueFiles.isFile(file, descriptor)) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      // Not proven, or left for the next server to remove.
      return false;
    }
    forget();
    return true;
  }

  /** Ends the mapping; whether the owner left can still be asked. */
  void unmap() {
    arena.close();
  }

  /**
   * Closes the descriptor. A requester's lock ends here: everything else of the connection must
   * have ended before.
   */
  void forget() {
    if (descriptor >= 0) {
      Posix.close(descriptor);
      descriptor = -1;
    }
  }

  /** The requester's end of it all. What was lent is left for the server to find. */
  void remove() {
    unmap();
    try {
      if (!lent) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      // The next server that starts removes what nobody has locked.
    }
    forget();
  }
}
