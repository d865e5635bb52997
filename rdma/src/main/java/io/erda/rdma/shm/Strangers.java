package io.erda.rdma.shm;

import io.erda.pmem.MemoryGuard;
import io.erda.rdma.rings.QueueLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.AccessDeniedException;
import java.util.ArrayList;
import java.util.List;

/**
 * The clients of earlier servers of a directory that still live. Each is fenced, so that its later
 * WRITEs do not count as done. But a client may be in the middle of a WRITE, so the server that
 * opens the store counts it until it has provably left.
 *
 * <p>Owns a descriptor of the queue file of each client. One thread.
 */
final class Strangers implements AutoCloseable {
  /** A queue file that this user can't open. Its client is assumed to live. */
  private record Unknown(String name, long inode) {}

  private final ShmDirectory directory;

  /** Whether there may be clients whose queue files were lost; see {@link LostQueueFiles}. */
  private final boolean lost;

  private final List<QueueFile> known = new ArrayList<>();
  private final List<Unknown> unknown = new ArrayList<>();

  private Strangers(ShmDirectory directory, boolean lost) {
    this.directory = directory;
    this.lost = lost;
  }

  /**
   * Fences the clients that live, and removes the queue files of dead ones.
   *
   * @param lost whether queue files were lost
   */
  static Strangers fence(ShmDirectory directory, SpareQueueFiles spares, boolean lost)
      throws IOException {
    Strangers strangers = new Strangers(directory, lost);
    boolean done = false;
    try {
      for (String name : directory.names(QueueFile.PREFIX)) {
        if (QueueFile.isName(name)) {
          strangers.fence(name, spares);
        }
      }
      done = true;
      return strangers;
    } finally {
      if (!done) {
        strangers.close();
      }
    }
  }

  private void fence(String name, SpareQueueFiles spares) throws IOException {
    try {
      QueueFile file = QueueFile.openAny(directory, name, spares);
      if (file.isOwnerGone()) {
        file.unmap();
      } else if (file.queue() != null && isNew(file)) {
        // The client never had a key, so it can't store anything.
        file.unmap();
        file.forget();
      } else {
        file.unmap();
        known.add(file);
      }
    } catch (AccessDeniedException e) {
      ShmDirectory.Attributes attributes = directory.attributes(name);
      if (attributes != null && attributes.regular()) {
        unknown.add(new Unknown(name, attributes.inode()));
      }
    } catch (IOException e) {
      // The file is gone, or never was a queue file, but a directory, a pipe or a link. No server
      // has accepted a connection with it.
    }
  }

  /** Whether no server has answered the file's client yet; fences the client if one has. */
  private static boolean isNew(QueueFile file) {
    // When the disk has no room for the page, the client is counted as long as it lives. This
    // server never reads its ring.
    return new MemoryGuard().step(file.queue(), Strangers::fence) == 1;
  }

  private static int fence(MemorySegment queue) {
    long at = QueueLayout.RESPONDER_STATE_OFFSET;
    long state = (long) QueueLayout.WORD.getAcquire(queue, at);
    if (state == QueueLayout.OPEN) {
      QueueLayout.WORD.setVolatile(queue, at, QueueLayout.GONE);
    }
    return state == QueueLayout.PENDING ? 1 : 0;
  }

  /**
   * Returns how many of the clients have not left yet; those whose queue files were lost count as
   * one. Costs a system call for each.
   */
  int count() {
    if (!known.isEmpty()) {
      known.removeIf(QueueFile::isOwnerGone);
    }
    if (!unknown.isEmpty()) {
      unknown.removeIf(this::isGone);
    }
    return known.size() + unknown.size() + (lost ? 1 : 0);
  }

  private boolean isGone(Unknown file) {
    try {
      ShmDirectory.Attributes attributes = directory.attributes(file.name);
      return attributes == null || attributes.inode() != file.inode;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public void close() {
    known.forEach(QueueFile::forget);
    known.clear();
    unknown.clear();
  }
}
