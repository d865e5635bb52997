package io.erda.server.engine.tables;

import io.erda.hashtable.Entry;
import io.erda.hashtable.KeyProbe;
import io.erda.hashtable.ValueHash;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The objects of the log, by the head and the offset that an entry names, and the probe that finds
 * a key's entry by its object. One thread.
 */
public final class StoredObjects implements KeyProbe {
  private final LogStore log;
  private final ValueHash valueHash = new ValueHash();

  // The key that is searched for.

  private int soughtHead;
  private MemorySegment soughtIn;
  private long soughtAt;
  private int soughtLength;

  public StoredObjects(LogStore log) {
    this.log = log;
  }

  /**
   * The probe for the entry of the key that lies in {@code memory}, for {@link Tables#find}. Valid
   * until the next one. Allocates nothing.
   */
  public KeyProbe withKey(long keyWord, MemorySegment memory, long keyAt, int keyLength) {
    soughtHead = Entry.headOf(keyWord);
    soughtIn = memory;
    soughtAt = keyAt;
    soughtLength = keyLength;
    return this;
  }

  /**
   * Whether an entry's object has the key of {@link #withKey}. A damaged object counts as the
   * key's: with 56 equal tag bits it is almost certainly the same key, and a put then replaces it
   * instead of adding an entry behind it.
   */
  @Override
  public boolean matches(long slot, long word) {
    int offset = VersionWord.committed(word);
    if (offset == VersionWord.NONE) {
      offset = VersionWord.newest(word);
    }
    Region region = log.region(soughtHead, offset);
    if (region == null) {
      return true;
    }
    long place = log.geometry().place(offset);
    long room = log.geometry().room(place);
    if (hasKey(region, place, room)) {
      return true;
    }
    int mix = ObjectChecksum.positionMix(soughtHead, region.generation(), offset);
    if (!region.checksum().valid(place, room, mix)) {
      return true;
    }
    // An announced object may have become whole between the two checks: the key as loaded after
    // the second one counts.
    VarHandle.loadLoadFence();
    return hasKey(region, place, room);
  }

  private boolean hasKey(Region region, long place, long room) {
    return ObjectLayout.bytes(soughtLength, 0) <= room
        && ObjectLayout.keyEquals(
            region.memory().segment(), place, soughtIn, soughtAt, soughtLength);
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
