package io.erda.client.files;

import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogReading;
import io.erda.protocol.SuperblockLayout;

/**
 * What a server would tell of its tables and regions at one epoch: see {@link MapReader}.
 *
 * @param linkWords of all slots of the region table, by slot; those that are not linked count for
 *     nothing
 * @param regions how many are linked
 */
record StoreSnapshot(
    long incarnation,
    long epoch,
    SuperblockLayout.Fields superblock,
    LogGeometry geometry,
    long[] linkWords,
    int regions) {
  /** The slot of a region, or -1 where none is linked. */
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
