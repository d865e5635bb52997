package io.erda.client.iteration;

import io.erda.client.connections.ReadSize;
import io.erda.client.connections.RegionMap;
import io.erda.client.gets.ObjectPlace;
import io.erda.hashtable.Entry;
import io.erda.hashtable.KeyHash;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectLayout;
import io.erda.rdma.Flags;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Work;

/**
 * The objects of the next entries of a stretch, which a {@link Scan} READs together: their places,
 * which objects are whole, and which key words must be looked up separately.
 */
final class ScanBatch {
  private static final int OBJECTS_MAX = 32;

  /** The first entry whose object was not READ, and the first entry after this batch. */
  private int nextEntry;

  private int endEntry;

  private final long[] keyWords = new long[OBJECTS_MAX];
  private final long[] remoteKeys = new long[OBJECTS_MAX];
  private final long[] places = new long[OBJECTS_MAX];
  private final int[] lengths = new int[OBJECTS_MAX];
  private final int[] positionMixes = new int[OBJECTS_MAX];
  private final ObjectPlace place = new ObjectPlace();
  private final Work read = Work.read();
  private int size;
  private int posted;
  private int stride;

  /** Key words of earlier batches that are still to be looked up, and those of this batch. */
  private final long[] lookUps = new long[OBJECTS_MAX];

  private int lookUpCount;
  private int newLookUps;

  /** The places in the copy of objects whose keys are not returned yet. */
  private final int[] found = new int[OBJECTS_MAX];

  private int foundCount;
  private int foundTold;

  /** Drops everything gathered; the next entry is the first. */
  void rewind() {
    nextEntry = 0;
    lookUpCount = 0;
    foundCount = 0;
    foundTold = 0;
  }

  /** The first entry whose object was not READ. */
  int nextEntry() {
    return nextEntry;
  }

  /**
   * Finds the places of the next entries' objects. REQUIRES: nothing of the batch before is left.
   *
   * @param entriesMap the map that the entries were READ with
   * @param map the newest map
   * @param stride bytes to READ of each object
   * @param capacity bytes that there is room for
   */
  void gather(
      ScanEntries entries,
      RegionMap entriesMap,
      RegionMap map,
      LogGeometry geometry,
      int stride,
      int capacity) {
    this.stride = stride;
    int max = Math.min(OBJECTS_MAX, capacity / stride);
    size = 0;
    posted = 0;
    newLookUps = 0;
    endEntry = nextEntry;
    for (; endEntry < entries.size() && endEntry - nextEntry < max; endEntry++) {
      long keyWord = entries.keyWord(endEntry);
      long word = entries.versionWord(endEntry);
      if (word != ScanEntries.LOOK_UP && find(keyWord, word, entriesMap, map, geometry)) {
        keyWords[size] = keyWord;
        remoteKeys[size] = place.remoteKey;
        places[size] = place.place;
        lengths[size] = (int) Math.min(stride, place.room);
        positionMixes[size++] = place.positionMix();
      } else {
        lookUps[newLookUps++] = keyWord;
      }
    }
  }

  /**
   * Finds the object of an entry, which may have been READ with an older map. The generations must
   * agree: in a later region the same place may hold a whole object of the same key that is not
   * published.
   */
  private boolean find(
      long keyWord, long word, RegionMap entriesMap, RegionMap map, LogGeometry geometry) {
    int head = Entry.headOf(keyWord);
    int committed = VersionWord.committed(word);
    if (!place.find(geometry, map, head, committed)) {
      return false;
    }
    if (map == entriesMap) {
      return true;
    }
    int generation = place.generation;
    return place.find(geometry, entriesMap, head, committed)
        && place.generation == generation
        && place.find(geometry, map, head, committed);
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** How many objects to READ. */
  int size() {
    return size;
  }

  /**
   * Posts the remaining READs. Only the last one reports its completion, when all are complete.
   *
   * @return false when the queue pair is full; then call it again
   */
  boolean post(QueuePair queuePair, long workId, MemoryRegion into) {
    for (; posted < size; posted++) {
      read.flags = posted == size - 1 ? Flags.SIGNALED : Flags.NONE;
      read.local(into, ScanCopy.OBJECTS + (long) posted * stride, lengths[posted])
          .remote(remoteKeys[posted], places[posted]);
      if (!queuePair.post(read.id(workId))) {
        return false;
      }
    }
    return true;
  }

  /** Checks the objects that were READ. */
  void check(ScanCopy copy, ReadSize readSize, KeyHash keyHash, int heads) {
    foundCount = 0;
    foundTold = 0;
    for (int i = 0; i < size; i++) {
      int at = ScanCopy.OBJECTS + i * stride;
      int bytes = copy.wholeBytes(at, lengths[i], positionMixes[i], keyWords[i], keyHash, heads);
      if (bytes == 0) {
        lookUps[newLookUps++] = keyWords[i];
        continue;
      }
      readSize.met(ObjectLayout.padded(bytes));
      if (!ObjectLayout.tombstone(copy.memory, at)) {
        found[foundCount++] = at;
      }
    }
  }

  /** Makes every object of the batch be looked up separately. */
  void lookUpAll() {
    for (int i = 0; i < size; i++) {
      lookUps[newLookUps++] = keyWords[i];
    }
  }

  /**
   * Ends the batch: its remaining look-ups are kept, and the next batch begins with the entries
   * behind it.
   */
  void end() {
    nextEntry = endEntry;
    lookUpCount = newLookUps;
  }

  boolean hasLookUps() {
    return lookUpCount > 0;
  }

  /** REQUIRES: {@link #hasLookUps}. */
  long takeLookUp() {
    return lookUps[--lookUpCount];
  }

  boolean hasFound() {
    return foundTold < foundCount;
  }

  /**
   * Returns the place of the next object whose key is to be returned. REQUIRES: {@link #hasFound}.
   */
  int takeFound() {
    return found[foundTold++];
  }

  /** Notes an object that a look-up found. REQUIRES: no other one is left. */
  void setFound(int at) {
    found[0] = at;
    foundCount = 1;
    foundTold = 0;
  }
}
