package io.erda.rdma;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
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
  private int descriptor;

  private QueueFile(Path file, Arena arena, MemorySegment queue, int descriptor) {
    this.file = file;
    this.arena = arena;
    this.queue = queue;
    this.descriptor = descriptor;
  }

  static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }

  /** A requester's own: new, full of zeros that take real space, locked. */
  static QueueFile create(Path directory) throws IOException {
    long pid = ProcessHandle.current().pid();
    for (int tries = 0; tries < NAMES_TRIED; tries++) {
      Path file =
          directory.resolve(PREFIX + pid + "-" + (NEXT.getAndIncrement() & Integer.MAX_VALUE));
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
        ShmRegistry.writeZeros(channel, QueueLayout.BYTES);
        MemorySegment queue =
            channel.map(FileChannel.MapMode.READ_WRITE, 0, QueueLayout.BYTES, arena);
        return new QueueFile(file, arena, queue, descriptor);
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

  /** A peer's, or null when it is no plain file of the right size. */
  static QueueFile open(Path file) throws IOException {
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
            descriptor);
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

  /** For the responder: whether the requester provably left. Then the file is removed. */
  boolean isOwnerGone() {
    if (descriptor < 0) {
      return true;
    }
    try {
      if (!Posix.tryLock(descriptor)) {
        return false;
      }
      Files.deleteIfExists(file);
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

  /** The requester's end of it all. */
  void remove() {
    unmap();
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      // The next server that starts removes what nobody has locked.
    }
    forget();
  }
}
