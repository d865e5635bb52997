package io.erda.rdma.shm;

import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.libc.Libc;
import io.erda.rdma.rings.QueueLayout;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
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
 * <p>Where the directory has the sticky bit, another user than its owner can't rename what is not
 * his: such a client names the spare to the server, which renames it for him before it maps it.
 *
 * <p>The server's, for one directory; one thread. {@link #take} is the client's, of any thread.
 */
final class SpareQueueFiles {
  /** How many are kept: clients that can come at a time when the disk is full. */
  static final int KEPT = 16;

  private static final String PREFIX = "spare-";
  private static final Pattern NAME = Pattern.compile("spare-[0-9]{1,10}");
  private static final long TEND_INTERVAL_NS = 1_000_000_000L;

  private final ShmDirectory directory;
  private int kept;
  private long next;
  private boolean changed;
  private long lastTended;

  SpareQueueFiles(ShmDirectory directory) {
    this.directory = directory;
  }

  /** Looks what is there when a server starts, and removes what is no spare. */
  void open() throws IOException {
    for (String name : directory.names(PREFIX)) {
      if (isName(name)) {
        next = Math.max(next, number(name) + 1);
        examine(name);
      }
    }
    count();
  }

  /** A file that is too short was being made when a server died; a copied store may have holes. */
  private void examine(String name) throws IOException {
    int descriptor = locked(directory, name);
    if (descriptor < 0) {
      return;
    }
    try {
      if (ShmDirectory.attributes(descriptor).bytes() == QueueLayout.BYTES
          && ShmDirectory.allocate(descriptor, directory.file(name), QueueLayout.BYTES)) {
        directory.share(descriptor);
        return;
      }
      directory.delete(name);
    } catch (OutOfSpaceException e) {
      directory.delete(name);
    } finally {
      Libc.close(descriptor);
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
      // Without spares all goes on as long as the disk is not full.
    }
  }

  private void count() throws IOException {
    kept = 0;
    for (String name : directory.names(PREFIX)) {
      kept += isName(name) ? 1 : 0;
    }
  }

  /** Makes a spare. Returns false when there is no room. */
  private boolean make() throws IOException {
    String name = PREFIX + next++;
    int descriptor = directory.create(name);
    boolean made = false;
    try {
      // Another process that is quicker and takes it finds it too short, and lets it go.
      if (ShmDirectory.tryLock(descriptor)) {
        fill(descriptor, name);
        made = true;
      }
    } catch (OutOfSpaceException e) {
      return false;
    } finally {
      if (!made) {
        directory.delete(name);
      }
      Libc.close(descriptor);
    }
    return made;
  }

  private void fill(int descriptor, String name) throws IOException {
    if (!ShmDirectory.allocate(descriptor, directory.file(name), QueueLayout.BYTES)) {
      try (FileChannel channel = ShmDirectory.channel(descriptor, true)) {
        ShmRegistry.writeZeros(channel, QueueLayout.BYTES);
      }
    }
  }

  private void reclaim(Predicate<String> inUse) {
    try {
      for (String name : directory.names(QueueFile.PREFIX)) {
        if (kept < KEPT && QueueFile.isName(name) && !inUse.test(name)) {
          reclaim(name);
        }
      }
    } catch (IOException e) {
      // The next time.
    }
  }

  private void reclaim(String name) {
    int descriptor = locked(directory, name);
    if (descriptor >= 0) {
      try {
        keep(name, descriptor);
      } finally {
        Libc.close(descriptor);
      }
    }
  }

  /**
   * Makes a spare of a queue file whose lock the caller holds, if one is missing.
   *
   * @return false when the file stays what and where it is
   */
  boolean keep(String name, int descriptor) {
    changed = true;
    if (!isOneMissing()) {
      return false;
    }
    try {
      ShmDirectory.Attributes attributes = ShmDirectory.attributes(descriptor);
      if (attributes.bytes() != QueueLayout.BYTES
          || attributes.links() != 1
          || !directory.isNameOf(name, descriptor)) {
        return false;
      }
      try (FileChannel channel = ShmDirectory.channel(descriptor, true)) {
        ShmRegistry.writeZeros(channel, QueueLayout.BYTES);
      }
      directory.rename(name, PREFIX + next++);
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
      if (Files.getFileStore(directory.at(".")).getUsableSpace() < 2L * KEPT * QueueLayout.BYTES) {
        count();
      }
    } catch (IOException e) {
      return false;
    }
    return kept < KEPT;
  }

  /** A spare of the server in {@code directory}, named and locked as a new queue file, or null. */
  static QueueFile take(ShmDirectory directory) throws IOException {
    for (String name : directory.names(PREFIX)) {
      QueueFile taken = isName(name) ? take(directory, name) : null;
      if (taken != null) {
        return taken;
      }
    }
    return null;
  }

  private static QueueFile take(ShmDirectory directory, String spare) throws IOException {
    int descriptor = locked(directory, spare);
    if (descriptor < 0) {
      return null;
    }
    boolean taken = false;
    try {
      String name = QueueFile.nextName();
      if (ShmDirectory.attributes(descriptor).bytes() == QueueLayout.BYTES
          && !directory.exists(name)) {
        boolean renamed = isRenamed(directory, spare, name);
        taken = true;
        return QueueFile.lent(directory, renamed ? name : spare, descriptor);
      }
      return null;
    } finally {
      if (!taken) {
        Libc.close(descriptor);
      }
    }
  }

  /** Returns whether this user could rename a spare: else the server is to. */
  private static boolean isRenamed(ShmDirectory directory, String spare, String name)
      throws IOException {
    try {
      directory.rename(spare, name);
      return true;
    } catch (AccessDeniedException e) {
      return false;
    }
  }

  /**
   * Renames a spare to a queue file's name for the client that holds its lock and could not.
   *
   * @return null when nobody holds it
   */
  String lend(String spare) throws IOException {
    int descriptor = directory.open(spare, true);
    try {
      String name = QueueFile.nextName();
      if (ShmDirectory.tryLock(descriptor) || directory.exists(name)) {
        return null;
      }
      directory.rename(spare, name);
      changed = true;
      return name;
    } finally {
      Libc.close(descriptor);
    }
  }

  /** A descriptor of the file that has this name now, locked; -1 when that can't be had. */
  private static int locked(ShmDirectory directory, String name) {
    int descriptor = -1;
    try {
      descriptor = directory.open(name, true);
      if (ShmDirectory.tryLock(descriptor) && directory.isNameOf(name, descriptor)) {
        return descriptor;
      }
    } catch (IOException e) {
      // It is another user's, it is gone, or it is no file at all.
    }
    if (descriptor >= 0) {
      Libc.close(descriptor);
    }
    return -1;
  }

  static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }

  private static long number(String name) {
    return Long.parseLong(name.substring(PREFIX.length()));
  }
}
