package io.erda.server.engine.tables;

import io.erda.hashtable.Entry;
import io.erda.hashtable.KeyProbe;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/** Finds the entry of a key by comparing the key in the entry's object. One thread. */
public final class EntrySearch {
  private final Tables tables;
  private final LogStore log;
  private final ObjectProbe probe = new ObjectProbe();

  public EntrySearch(Tables tables, LogStore log) {
    this.tables = tables;
    this.log = log;
  }

  /**
   * The entry of the key that lies in {@code memory}, or {@link Tables#NONE}. Allocates nothing.
   */
  public long find(long keyWord, MemorySegment memory, long keyAt, int keyLength) {
    probe.head = Entry.headOf(keyWord);
    probe.memory = memory;
    probe.keyAt = keyAt;
    probe.keyLength = keyLength;
    return tables.find(keyWord, probe);
  }

  /**
   * Compares the key in an entry's object. A damaged object counts as an object of this key. With
   * 56 equal tag bits it almost certainly has the same key, and a put then replaces it instead of
   * adding another entry for the key.
   */
  private final class ObjectProbe implements KeyProbe {
    private int head;
    private MemorySegment memory;
    private long keyAt;
    private int keyLength;

    @Override
    public boolean matches(long slot, long word) {
      int offset = VersionWord.committed(word);
      if (offset == VersionWord.NONE) {
        offset = VersionWord.newest(word);
      }
      Region region = log.region(head, offset);
      if (region == null) {
        return true;
      }
      long place = log.geometry().place(offset);
      long room = log.geometry().room(place);
      if (hasKey(region, place, room)) {
        return true;
      }
      int mix = ObjectChecksum.positionMix(head, region.generation(), offset);
      if (!region.checksum().valid(place, room, mix)) {
        return true;
      }
      // An announced object may have become whole between the two checks, so the key is loaded
      // again after the second check.
      VarHandle.loadLoadFence();
      return hasKey(region, place, room);
    }

    private boolean hasKey(Region region, long place, long room) {
      return ObjectLayout.bytes(keyLength, 0) <= room
          && ObjectLayout.keyEquals(region.memory().segment(), place, memory, keyAt, keyLength);
    }
  }
}
