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
 * Queue files that a server makes while there is room, for clients that connect when the disk is
 * full. So these clients can read and delete.
 *
 * <p>A spare is an unlocked file {@code spare-N} of zeros whose space is allocated. A client that
 * locks a spare may take it. It renames the spare to a queue file's name, and leaves the file there
 * when it ends; then the server finds the file unlocked, fills it with zeros, and makes it a spare
 * again. A spare's name is never reused, and only the holder of a file's lock changes its name, so
 * a locked file that still has its name is the intended one. A client never gets a file that a
 * server still has mapped.
 *
 * <p>If the directory has the sticky bit, only owners can rename files. Then a client of another
 * user sends the name of the spare to the server, which renames the file before it maps it.
 *
 * <p>An object belongs to a server and one directory, and is for one thread. {@link #take} is for
 * clients, and any thread may call it.
 */
final class SpareQueueFiles {
  /** The number of spares: so many clients can connect while the disk is full. */
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

  /** Examines the spares of an earlier server, and removes files that can't be used. */
  void open() throws IOException {
    for (String name : directory.names(PREFIX)) {
      if (isName(name)) {
        next = Math.max(next, number(name) + 1);
        examine(name);
      }
    }
    count();
  }

  /**
   * Keeps a spare that has the right size and allocated space. Others occur because a server may
   * have died while it made the file, and a copied store may have holes.
   */
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

  /**
   * Notes that a client has connected or left, so that spares may be missing, or lent files may be
   * free.
   */
  void changed() {
    changed = true;
  }

  /**
   * Makes missing spares, now and then. When there is no room for them, looks for files that were
   * lent to clients that have left.
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

  /** Makes missing spares, as far as there is room. */
  void makeMissing(long nowNs) {
    lastTended = nowNs;
    try {
      count();
      while (kept < KEPT && make()) {
        kept++;
      }
    } catch (IOException e) {
      // The error is ignored, because spares are needed only when the disk is full.
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
      // A client may lock the file before this server does. It finds the file too short, and
      // releases it.
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
      // The next call of tend() tries again.
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
   * @return false when the file was left alone
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
   * Whether a spare is missing. Clients take spares without the server, so the count may be too
   * high. It is updated only when the disk is nearly full, because listing the directory for each
   * of many leaving clients takes long.
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

  /**
   * Returns a spare of the server in {@code directory}, which is locked and named as a new queue
   * file; null when there is none.
   */
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
    String name = spare;
    QueueFile taken = null;
    try {
      String next = QueueFile.nextName();
      if (ShmDirectory.attributes(descriptor).bytes() == QueueLayout.BYTES
          && !directory.exists(next)) {
        name = isRenamed(directory, spare, next) ? next : spare;
        taken = QueueFile.lent(directory, spare, name, descriptor);
      }
      return taken;
    } finally {
      if (taken == null) {
        giveBack(directory, spare, name);
        Libc.close(descriptor);
      }
    }
  }

  /**
   * Gives a spare its old name back. The caller still holds the lock of the file, of which the
   * server has not heard.
   */
  static void giveBack(ShmDirectory directory, String spare, String name) {
    try {
      if (!name.equals(spare)) {
        directory.rename(name, spare);
      }
    } catch (IOException e) {
      // The next server that starts removes files that are not locked.
    }
  }

  /** Renames a spare. Returns false when this user may not rename it; then the server does it. */
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
   * @return null when no client holds the lock
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

  /** Opens and locks the file with this name. Returns its descriptor; -1 when that fails. */
  private static int locked(ShmDirectory directory, String name) {
    int descriptor = -1;
    try {
      descriptor = directory.open(name, true);
      if (ShmDirectory.tryLock(descriptor) && directory.isNameOf(name, descriptor)) {
        return descriptor;
      }
    } catch (IOException e) {
      // The file belongs to another user, is gone, or is no plain file.
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
