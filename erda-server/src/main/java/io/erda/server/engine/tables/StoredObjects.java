package io.erda.server.engine.tables;

import io.erda.hashtable.ValueHash;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The objects of the log, by the head and the offset that an entry names. One thread. */
public final class StoredObjects {
  private final LogStore log;
  private final ValueHash valueHash = new ValueHash();

  public StoredObjects(LogStore log) {
    this.log = log;
  }

  /** Whether a whole object that was written for this position lies at the offset. */
  public boolean valid(int head, int offset) {
    Region region = log.region(head, offset);
    if (region == null) {
      return false;
    }
    long place = log.geometry().place(offset);
    return region
        .checksum()
        .valid(
            place,
            log.geometry().room(place),
            ObjectChecksum.positionMix(head, region.generation(), offset));
  }

  /**
   * Returns the length of the object at an offset, without padding. REQUIRES: the object is whole,
   * and whole objects of this store do not change.
   */
  public int bytes(int head, int offset) {
    MemorySegment memory = log.region(head, offset).memory().segment();
    long place = log.geometry().place(offset);
    return (int)
        Math.min(
            ObjectLayout.bytes(
                ObjectLayout.keyLength(memory, place), ObjectLayout.valueLength(memory, place)),
            log.geometry().room(place));
  }

  /** Whether the version at an offset is a value, not a tombstone and not missing. */
  public boolean isValue(int head, int offset) {
    if (offset == VersionWord.NONE) {
      return false;
    }
    Region region = log.region(head, offset);
    return region != null
        && !ObjectLayout.tombstone(region.memory().segment(), log.geometry().place(offset));
  }

  /**
   * Whether the version at an offset is a whole tombstone. Computes the checksum only of
   * tombstones.
   */
  boolean isTombstone(int head, int offset) {
    Region region = log.region(head, offset);
    return region != null
        && ObjectLayout.tombstone(region.memory().segment(), log.geometry().place(offset))
        && valid(head, offset);
  }

  /** Whether the value at an offset has a length and a hash. REQUIRES: it is valid, and a value. */
  public boolean isEqual(int head, int offset, int length, long low, long high) {
    MemorySegment memory = log.region(head, offset).memory().segment();
    long place = log.geometry().place(offset);
    // Loaded once and bounded: a writer may violate the rules and store there after its
    // publication.
    int keyLength = ObjectLayout.keyLength(memory, place);
    if (ObjectLayout.valueLength(memory, place) != length
        || ObjectLayout.bytes(keyLength, length) > log.geometry().room(place)) {
      return false;
    }
    long value = place + ObjectLayout.KEY_OFFSET + keyLength;
    valueHash.compute(memory, value, length);
    return valueHash.low() == low && valueHash.high() == high;
  }

  /** The key of a whole object. */
  public static byte[] key(MemorySegment memory, long place) {
    return memory
        .asSlice(place + ObjectLayout.KEY_OFFSET, ObjectLayout.keyLength(memory, place))
        .toArray(ValueLayout.JAVA_BYTE);
  }
}
