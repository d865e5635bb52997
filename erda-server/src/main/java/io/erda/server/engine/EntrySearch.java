package io.erda.server.engine;

import io.erda.hashtable.Entry;
import io.erda.hashtable.KeyProbe;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import java.lang.foreign.MemorySegment;

/** Finds the entry of a key by comparing the key in the entry's object. One thread. */
final class EntrySearch {
  private final Tables tables;
  private final LogStore log;
  private final ObjectProbe probe = new ObjectProbe();

  EntrySearch(Tables tables, LogStore log) {
    this.tables = tables;
    this.log = log;
  }

  /**
   * The entry of the key that lies in {@code memory}, or {@link Tables#NONE}. Allocates nothing.
   */
  long find(long keyWord, MemorySegment memory, long keyAt, int keyLength) {
    probe.head = Entry.headOf(keyWord);
    probe.memory = memory;
    probe.keyAt = keyAt;
    probe.keyLength = keyLength;
    return tables.find(keyWord, probe);
  }

  /**
   * Compares the key in an entry's object. An object that is damaged counts as the key's: with 56
   * equal tag bits it is all but certainly the same one, and a put then heals it instead of hiding
   * behind it.
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
      MemorySegment objects = region.memory().segment();
      if (ObjectLayout.bytes(keyLength, 0) <= room
          && ObjectLayout.keyEquals(objects, place, memory, keyAt, keyLength)) {
        return true;
      }
      int mix = ObjectChecksum.positionMix(head, region.generation(), offset);
      return !region.checksum().valid(place, room, mix);
    }
  }
}
