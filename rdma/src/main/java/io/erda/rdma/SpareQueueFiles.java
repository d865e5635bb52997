package io.erda.rdma;

import io.erda.pmem.OutOfSpaceException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * Queue files that a server makes while there is room, for clients that come when there is none: to
 * read and to delete from a store whose disk is full.
 *
 * <p>A spare is a file {@code spare-N} of zeros that take real space, locked by nobody. Who locks
 * it may take it: a client renames it to a queue file's name and leaves it there at its end; the
 * server finds it without a lock then, fills it with zeros, and names it a spare again. A name is
 * given to a spare once, and only the holder of a file's lock changes its name, so what is locked
 * and still has its name is the file that was meant. A client never gets a file that a server still
 * has mapped.
 *
 * <p>The server's, for one directory; one thread. {@link #take} is the client's, of any thread.
 */
final class SpareQueueFiles {
  /** How many are kept: clients that can come at a time when the disk is full. */
  static final int KEPT = 16;

  private static final String PREFIX = "spare-";
  private static final Pattern NAME = Pattern.compile("spare-[0-9]{1,10}");
  private static final long TEND_INTERVAL_NS = 1_000_000_000L;

  private final Path directory;
  private int kept;
  private long next;
  private boolean changed;
  private long lastTended;

  SpareQueueFiles(Path directory) {
    this.directory = directory;
  }

  /** For a server that starts: looks what is there, and removes what is no spare. */
  void open() throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, PREFIX + "*")) {
      for (Path file : files) {
        if (isName(file)) {
          next = Math.max(next, number(file) + 1);
          examine(file);
        }
      }
    }
    count();
  }

  /** What is too short was being made when a server died; a copy of a store may have holes. */
  private void examine(Path file) throws IOException {
    int descriptor = locked(file);
    if (descriptor < 0) {
      return;
    }
    try {
      if (Files.size(file) == QueueLayout.BYTES
          && Posix.allocate(descriptor, file, QueueLayout.BYTES)) {
        return;
      }
      Files.delete(file);
    } catch (OutOfSpaceException e) {
      Files.delete(file);
    } finally {
      Posix.close(descriptor);
    }
  }

  /** A client came or went: some may be missing, or to be found. */
  void changed() {
    changed = true;
  }

  /**
   * Makes what is missing, now and then. Where there is no room for that, looks for files that were
   * lent to clients that are gone.
   *
   * @param inUse whether a connection of this server has the queue file of that name
   */
  void tend(long nowNs, Predicate<String> inUse) {
    if ((!changed && kept >= KEPT) || nowNs - lastTended < TEND_INTERVAL_NS) {
      return;
    }
    changed = false;
    makeMissing(nowNs);
    if (kept < KEPT) {
      reclaim(inUse);
    }
  }

  /** Makes what is missing, as far as there is room. */
  void makeMissing(long nowNs) {
    lastTended = nowNs;
    try {
      count();
      while (kept < KEPT && make()) {
        kept++;
      }
    } catch (IOException e) {
      // Without them all goes on as long as the disk is not full.
    }
  }

  private void count() throws IOException {
    kept = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, PREFIX + "*")) {
      for (Path file : files) {
        kept += isName(file) ? 1 : 0;
      }
    }
  }

  /** False when there is no room. */
  private boolean make() throws IOException {
    Path file = directory.resolve(PREFIX + next++);
    int descriptor = -1;
    boolean made = false;
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      descriptor = Posix.open(file);
      // Who is quicker and takes it finds it too short, and lets it go.
      if (Posix.tryLock(descriptor)) {
        if (!Posix.allocate(descriptor, file, QueueLayout.BYTES)) {
          ShmRegistry.writeZeros(channel, QueueLayout.BYTES);
        }
        made = true;
      }
    } catch (OutOfSpaceException e) {
      return false;
    } finally {
      if (!made) {
        Files.deleteIfExists(file);
      }
      if (descriptor >= 0) {
        Posix.close(descriptor);
      }
    }
    return made;
  }

  private void reclaim(Predicate<String> inUse) {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "queue-*")) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        if (kept < KEPT && QueueFile.isName(name) && !inUse.test(name)) {
          reclaim(file);
        }
      }
    } catch (IOException e) {
      // The next time.
    }
  }

  private void reclaim(Path file) throws IOException {
    int descriptor = locked(file);
    if (descriptor >= 0) {
      try {
        keep(file, descriptor);
      } finally {
        Posix.close(descriptor);
      }
    }
  }

  /**
   * Makes a spare of a queue file whose lock the caller holds, if one is missing.
   *
   * @return false when the file stays what and where it is
   */
  boolean keep(Path file, int descriptor) {
    changed = true;
    if (!isOneMissing()) {
      return false;
    }
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      if (channel.size() != QueueLayout.BYTES
          || !isFile(file, descriptor)
          || ((Number) Files.getAttribute(file, "unix:nlink", LinkOption.NOFOLLOW_LINKS)).intValue()
              != 1) {
        return false;
      }
      ShmRegistry.writeZeros(channel, QueueLayout.BYTES);
      Files.move(file, directory.resolve(PREFIX + next++), StandardCopyOption.ATOMIC_MOVE);
      kept++;
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Clients take them by themselves: what was counted before may be too many. Where there is room,
   * what is missing is made later; a look at the directory for each of many that leave takes long.
   */
  private boolean isOneMissing() {
    try {
      if (Files.getFileStore(directory).getUsableSpace() < 2L * KEPT * QueueLayout.BYTES) {
        count();
      }
    } catch (IOException e) {
      return false;
    }
    return kept < KEPT;
  }

  /** A spare of the server in {@code directory}, named and locked as a new queue file, or null. */
  static QueueFile take(Path directory) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, PREFIX + "*")) {
      for (Path file : files) {
        QueueFile taken = isName(file) ? take(directory, file) : null;
        if (taken != null) {
          return taken;
        }
      }
    }
    return null;
  }

  private static QueueFile take(Path directory, Path spare) throws IOException {
    int descriptor = locked(spare);
    if (descriptor < 0) {
      return null;
    }
    boolean taken = false;
    try {
      Path file = QueueFile.nextName(directory);
      if (Files.size(spare) == QueueLayout.BYTES
          && !Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
        Files.move(spare, file, StandardCopyOption.ATOMIC_MOVE);
        taken = true;
        return QueueFile.lent(file, descriptor);
      }
      return null;
    } finally {
      if (!taken) {
        Posix.close(descriptor);
      }
    }
  }

  /** A descriptor of the file that has this name now, locked; -1 when that can't be had. */
  private static int locked(Path file) {
    int descriptor = -1;
    try {
      if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
        return -1;
      }
      descriptor = Posix.open(file);
      if (Posix.tryLock(descriptor) && isFile(file, descriptor)) {
        return descriptor;
      }
    } catch (IOException e) {
      // Of another user, or gone.
    }
    if (descriptor >= 0) {
      Posix.close(descriptor);
    }
    return -1;
  }

  /** Whether a name still is the name of an open file. */
  static boolean isFile(Path file, int descriptor) throws IOException {
    try {
      return Files.isSameFile(file, Path.of("/proc/self/fd/" + descriptor));
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  private static boolean isName(Path file) {
    return NAME.matcher(file.getFileName().toString()).matches();
  }

  private static long number(Path file) {
    return Long.parseLong(file.getFileName().toString().substring(PREFIX.length()));
  }
}
