package io.erda.rdma.shm;

import io.erda.pmem.MemoryGuard;
import io.erda.rdma.rings.QueueLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.AccessDeniedException;
import java.util.ArrayList;
import java.util.List;

/**
 * The clients of earlier servers of a directory that still live. Each is fenced: nothing that it
 * WRITEs from now on counts. It may even so be in the middle of a WRITE, so the opener of a store
 * counts it until it has provably left.
 *
 * <p>Owns a descriptor of each one's queue file. One thread.
 */
final class Strangers implements AutoCloseable {
  /** A queue file that this user can't open: its client is taken to live. */
  private record Unknown(String name, long inode) {}

  private final ShmDirectory directory;
  private final List<QueueFile> known = new ArrayList<>();
  private final List<Unknown> unknown = new ArrayList<>();

  private Strangers(ShmDirectory directory) {
    this.directory = directory;
  }

  /** Fences the clients that live, and removes the queue files of dead ones. */
  static Strangers fence(ShmDirectory directory, SpareQueueFiles spares) throws IOException {
    Strangers strangers = new Strangers(directory);
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
        // Its client never had a key.
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
      // It is gone, or was never a queue file: a directory, a pipe, a link. No server accepted a
      // connection with that.
    }
  }

  /** Whether no server has answered the file's client yet; fences the client if one has. */
  private static boolean isNew(QueueFile file) {
    // Where the disk has no room for the page, the client is counted for as long as it lives, and
    // this server never looks into its ring.
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

  /** How many have not left yet. Costs a system call for each. */
  int count() {
    if (!known.isEmpty()) {
      known.removeIf(QueueFile::isOwnerGone);
    }
    if (!unknown.isEmpty()) {
      unknown.removeIf(this::isGone);
    }
    return known.size() + unknown.size();
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
