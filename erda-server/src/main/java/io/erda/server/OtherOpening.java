package io.erda.server;

import io.erda.pmem.OpenDirectory;
import io.erda.protocol.Root;
import io.erda.server.engine.files.StoreFiles;
import io.erda.server.engine.store.StoreEngine;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;

/**
 * Notices that another server has opened a store beside the one that serves it. The lock of the
 * directory prevents that where both reach the directory by one file system. A mirror (bindfs), a
 * layer of an overlay and a network have locks of their own. The other server shows itself by the
 * incarnation that it has begun, which is read from the file: a mapping may show an older page.
 *
 * <p>{@link #found} may be called by any thread.
 */
final class OtherOpening {
  private static final String WORDS =
      "another server has opened the store, by a path where the lock of this one is not seen (a"
          + " mirror such as bindfs, a layer of an overlay, another host): close this one, verify"
          + " the store, and reach it by one file system. What was acknowledged since then may be"
          + " lost";

  private final OpenDirectory place;

  /** The newest incarnation that this server may have begun. */
  private volatile long own = Long.MAX_VALUE;

  /**
   * @param place the directory of the store; borrowed
   */
  OtherOpening(OpenDirectory place) {
    this.place = place;
  }

  /** Notes that a store is about to begin an incarnation. */
  void begins(StoreEngine engine) {
    own = engine.root().incarnation() + 1;
  }

  /** Returns in words that another server has opened the store; null when none is known to. */
  String found() {
    ByteBuffer incarnation = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    try (FileChannel root = FileChannel.open(place.at(StoreFiles.ROOT), StandardOpenOption.READ)) {
      if (root.read(incarnation, Root.INCARNATION_OFFSET) < Long.BYTES) {
        return null;
      }
    } catch (IOException e) {
      // The watch of the directory reports a file that is gone or can't be read.
      return null;
    }
    return incarnation.getLong(0) > own ? WORDS : null;
  }
}
