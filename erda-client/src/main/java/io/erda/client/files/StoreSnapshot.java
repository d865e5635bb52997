package io.erda.client.files;

import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogReading;
import io.erda.protocol.SuperblockLayout;

/**
 * The tables and regions of a store at one epoch, as a server would send them: see {@link
 * MapReader}.
 *
 * @param linkWords the link words of all slots of the region table, by slot; words that are not
 *     linked are ignored
 * @param regions how many regions are linked
 */
record StoreSnapshot(
    long incarnation,
    long epoch,
    SuperblockLayout.Fields superblock,
    LogGeometry geometry,
    long[] linkWords,
    int regions) {
  /** Returns the slot of a region, or -1 when the region is not linked. */
  int slotOf(int head, int index) {
    for (int slot = 0; slot < linkWords.length; slot++) {
      long word = linkWords[slot];
      if (LogReading.isLinked(word)
          && LogReading.head(word) == head
          && LogReading.index(word) == index) {
        return slot;
      }
    }
    return -1;
  }
}
