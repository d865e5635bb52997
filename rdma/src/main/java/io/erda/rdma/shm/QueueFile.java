package io.erda.rdma.shm;

import io.erda.pmem.FailedFileSystemException;
import io.erda.pmem.MappedArena;
import io.erda.pmem.MappedFault;
import io.erda.pmem.MemoryGuard;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.UnmappedException;
import io.erda.pmem.libc.Libc;
import io.erda.rdma.rings.Mappings;
import io.erda.rdma.rings.QueueLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.attribute.UserPrincipal;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongUnaryOperator;
import java.util.regex.Pattern;

/**
 * The file of one shm connection. Both ends map it, and the requester holds its lock as long as the
 * requester may store to memory of the server. If the lock can be taken, the requester has left:
 * the kernel releases it only after the memory of the process is gone.
 *
 * <p>Owns a mapping and a descriptor; the descriptor may outlive the mapping.
 */
public final class QueueFile {
  static final String PREFIX = "queue-";
  private static final Pattern NAME = Pattern.compile("queue-[0-9]{1,10}-[0-9]{1,10}");
  private static final int NAMES_TRIED = 1 << 16;

  // The counter belongs to the process, whose ID is also in the name. A name is never used twice,
  // because the server may not have noticed yet that the last connection with that name has ended,
  // and would refuse the new one or remove its file.
  private static final AtomicInteger NEXT = new AtomicInteger();

  private final ShmDirectory directory;
  private final String name;

  /**
   * The arena of the mapping. A file that is not mapped has neither an arena nor a queue; both
   * fields are null.
   */
  private final Arena arena;

  private final MemorySegment queue;

  /**
   * The spares, which take a peer's file when the peer is gone; null for a requester's own file.
   */
  private final SpareQueueFiles spares;

  /**
   * The name that the file had as a spare of the server, and becomes a spare again; null when it
   * was none.
   */
  private final String spare;

  private int descriptor;

  private QueueFile(
      ShmDirectory directory,
      String name,
      Arena arena,
      MemorySegment queue,
      int descriptor,
      SpareQueueFiles spares,
      String spare) {
    this.spares = spares;
    this.spare = spare;
    this.directory = directory;
    this.name = name;
    this.arena = arena;
    this.queue = queue;
    this.descriptor = descriptor;
  }

  public static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }

  /**
   * Returns a name for the next file of this process. Only the creation of the file shows whether
   * the name is free.
   */
  static String nextName() {
    return PREFIX
        + ProcessHandle.current().pid()
        + "-"
        + (NEXT.getAndIncrement() & Integer.MAX_VALUE);
  }

  /**
   * Returns a requester's file, which is full of zeros, has allocated space, and is locked. It is a
   * new file if there is room, otherwise one of the spares that the server keeps. An interrupt
   * takes no spare.
   *
   * @throws OutOfSpaceException when there is neither room nor a spare
   */
  static QueueFile obtain(ShmDirectory directory) throws IOException {
    try {
      return create(directory);
    } catch (AccessDeniedException | NoSuchFileException | ClosedByInterruptException e) {
      throw e;
    } catch (IOException e) {
      QueueFile spare = SpareQueueFiles.take(directory);
      if (spare == null) {
        throw e;
      }
      return spare;
    }
  }

  /** Makes a new file of a requester. */
  public static QueueFile create(ShmDirectory directory) throws IOException {
    for (int tries = 0; tries < NAMES_TRIED; tries++) {
      String name = nextName();
      try {
        QueueFile created = create(directory, name, directory.create(name));
        if (created != null) {
          return created;
        }
      } catch (FileAlreadyExistsException e) {
        // Another connection of this process, or of a process with the same ID in another
        // namespace, has the name.
      }
    }
    throw new IOException(directory.path() + ": no free name for a queue file");
  }

  /**
   * Returns null when a server that was just starting took the unlocked file for that of a dead
   * peer and removed it.
   */
  private static QueueFile create(ShmDirectory directory, String name, int descriptor)
      throws IOException {
    boolean done = false;
    try {
      // A server that is just starting may hold the lock for a moment, while it checks whether the
      // owner of this file is dead.
      if (!ShmDirectory.tryLock(descriptor) || !directory.isNameOf(name, descriptor)) {
        return null;
      }
      if (!ShmDirectory.allocate(descriptor, directory.file(name), QueueLayout.BYTES)) {
        try (FileChannel channel = ShmDirectory.channel(descriptor, true)) {
          ShmRegistry.writeZeros(channel, QueueLayout.BYTES);
        }
      }
      QueueFile file = mapped(directory, name, descriptor, QueueLayout.BYTES, null, null);
      done = true;
      return file;
    } catch (IOException | RuntimeException | Error e) {
      directory.delete(name);
      throw e;
    } finally {
      if (!done) {
        Libc.close(descriptor);
      }
    }
  }

  private static QueueFile mapped(
      ShmDirectory directory,
      String name,
      int descriptor,
      long bytes,
      SpareQueueFiles spares,
      String spare)
      throws IOException {
    Arena arena = Arena.ofShared();
    boolean done = false;
    try (FileChannel channel = ShmDirectory.channel(descriptor, true)) {
      MemorySegment queue = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
      done = true;
      return new QueueFile(directory, name, arena, queue, descriptor, spares, spare);
    } catch (IOException e) {
      throw UnmappedException.of(name, e);
    } finally {
      if (!done) {
        MappedArena.close(arena);
      }
    }
  }

  /**
   * Makes a queue file of a spare that the caller has locked, and has renamed to {@code name} if it
   * could. Fills it with zeros, because another client may have begun to use a spare without
   * renaming it, and died. The descriptor belongs to the file from here on, but not after an error.
   */
  static QueueFile lent(ShmDirectory directory, String spare, String name, int descriptor)
      throws IOException {
    QueueFile file = mapped(directory, name, descriptor, QueueLayout.BYTES, null, spare);
    boolean done = false;
    try {
      if (!new MemoryGuard().attempt(file.queue, queue -> queue.fill((byte) 0))) {
        IOException why = file.storeFailure(directory);
        throw why instanceof OutOfSpaceException
            ? why
            : new FailedFileSystemException(null, why.getMessage());
      }
      done = true;
      return file;
    } finally {
      if (!done) {
        file.unmap();
      }
    }
  }

  /**
   * Opens a peer's file. Returns null when it is not a plain file of the right size with a single
   * name.
   *
   * @param spares receive the file when the peer is gone
   * @throws AccessDeniedException when this user may not open it
   */
  static QueueFile open(ShmDirectory directory, String name, SpareQueueFiles spares)
      throws IOException {
    return orNull(openAny(directory, name, spares));
  }

  /**
   * Opens a peer's file of another version, of which only the header is mapped. Returns null when
   * it is not a plain file with a header and a single name.
   *
   * @param spares receive the file when the peer is gone
   * @throws AccessDeniedException when this user may not open it
   */
  static QueueFile openHeader(ShmDirectory directory, String name, SpareQueueFiles spares)
      throws IOException {
    return orNull(
        openAny(
            directory,
            name,
            spares,
            bytes -> bytes >= QueueLayout.HEADER_BYTES ? QueueLayout.HEADER_BYTES : 0));
  }

  private static QueueFile orNull(QueueFile file) {
    if (file.queue == null) {
      file.forget();
      return null;
    }
    return file;
  }

  /**
   * Opens a peer's file. It is not mapped when its size is wrong, but is returned, because its
   * owner may still live.
   *
   * @throws IOException when it is no plain file, does not exist, or this user may not open it
   */
  static QueueFile openAny(ShmDirectory directory, String name, SpareQueueFiles spares)
      throws IOException {
    return openAny(
        directory, name, spares, bytes -> bytes == QueueLayout.BYTES ? QueueLayout.BYTES : 0);
  }

  /**
   * @param mapped returns how many bytes to map of a file of a given length; 0: none
   */
  private static QueueFile openAny(
      ShmDirectory directory, String name, SpareQueueFiles spares, LongUnaryOperator mapped)
      throws IOException {
    int descriptor = directory.open(name, true);
    boolean done = false;
    try {
      ShmDirectory.Attributes attributes = ShmDirectory.attributes(descriptor);
      long bytes = attributes.links() == 1 ? mapped.applyAsLong(attributes.bytes()) : 0;
      QueueFile file =
          bytes > 0
              ? mapped(directory, name, descriptor, bytes, spares, null)
              : new QueueFile(directory, name, null, null, descriptor, spares, null);
      done = true;
      return file;
    } finally {
      if (!done) {
        Libc.close(descriptor);
      }
    }
  }

  public String name() {
    return name;
  }

  /**
   * Returns the reason for which a store to the file failed although the file was not shortened.
   */
  IOException storeFailure(ShmDirectory directory) {
    return MappedFault.ofStore(directory.file(name), directory.at("."), queue, 0, queue.byteSize())
        .getCause();
  }

  /** Describes the file as it is now. */
  ShmDirectory.Attributes attributes() throws IOException {
    return ShmDirectory.attributes(descriptor);
  }

  /** The owner of the file. */
  UserPrincipal owner() throws IOException {
    return ShmDirectory.owner(descriptor);
  }

  /** Returns the arena of the mapping, which ends with the mapping. */
  Arena arena() {
    return arena;
  }

  /** Returns the mapped memory; null when the size of the file was wrong. */
  public MemorySegment queue() {
    return queue;
  }

  /**
   * Whether somebody shortened the file while it was mapped, so that loads and stores met missing
   * pages. Then zeros that only this process sees are mapped in place of the file.
   */
  boolean isShortened() {
    try {
      if (descriptor < 0 || ShmDirectory.attributes(descriptor).bytes() >= queue.byteSize()) {
        return false;
      }
      Mappings.mapZerosOver(queue);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Whether loads and stores of the mapping meet missing pages, because somebody shortened the
   * file, or the file system is full or failed. Called after a fault. If so, zeros that only this
   * process sees are mapped in place of the file.
   */
  boolean isLost() {
    if (descriptor < 0 || queue == null) {
      return false;
    }
    if (isShortened()) {
      return true;
    }
    if (MappedFault.look(queue, 0, queue.byteSize()) != MappedFault.Page.LOST) {
      return false;
    }
    try {
      Mappings.mapZerosOver(queue);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Whether the requester has provably left. The responder calls it. If so, the file becomes a
   * spare, or is removed when there are enough spares.
   */
  boolean isOwnerGone() {
    if (descriptor < 0) {
      return true;
    }
    try {
      if (!ShmDirectory.tryLock(descriptor)) {
        return false;
      }
      // Another file may have the name now.
      if (!spares.keep(name, descriptor) && directory.isNameOf(name, descriptor)) {
        directory.delete(name);
      }
    } catch (IOException e) {
      // It is not proven that the requester left, or the next server will remove the file.
      return false;
    }
    forget();
    return true;
  }

  /** Ends the mapping; {@link #isOwnerGone} can still be called. */
  public void unmap() {
    if (arena != null && arena.scope().isAlive()) {
      MappedArena.close(arena);
    }
  }

  /**
   * Closes the descriptor. This releases a requester's lock, so all other parts of the connection
   * must have ended before.
   */
  public void forget() {
    if (descriptor >= 0) {
      Libc.close(descriptor);
      descriptor = -1;
    }
  }

  /**
   * Ends the mapping, the name and the lock. The requester calls it. A lent file keeps its name, so
   * that the server finds it.
   */
  public void remove() {
    unmap();
    try {
      if (spare == null) {
        directory.delete(name);
      }
    } catch (IOException e) {
      // The next server that starts removes files that are not locked.
    }
    forget();
  }

  /**
   * Does what {@link #remove} does, for a file that the server has not heard of. A lent file is
   * given back.
   */
  void abandon() {
    if (spare != null) {
      SpareQueueFiles.giveBack(directory, spare, name);
    }
    remove();
  }
}
