package io.erda.client.files;

import io.erda.hashtable.Entry;
import io.erda.hashtable.HashTable;
import io.erda.hashtable.KeyHash;
import io.erda.hashtable.Neighbourhood;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogReading;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.protocol.Root;
import io.erda.protocol.StoreTables;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Finds out whether the object of a key is damaged, or was only replaced while it was read.
 *
 * <p>A server can decide that at once, because nothing changes while it checks. A reader of the
 * files reads the entry twice. A place in the log is used only once in an epoch. So if the entry
 * had the same version word before and after the READ of an object, in the same epoch, the word
 * named that object all the time. If the object still fails its check, and its region was still
 * linked after the READ, the object is damaged.
 */
final class DamageSearch {
  private final MapReader reader;
  private final ReachedFiles files;
  private final KeyHash hash;
  private final int heads;
  private final MemorySegment root = MemorySegment.ofArray(new long[Root.BYTES / Long.BYTES]);

  DamageSearch(MapReader reader, ReachedFiles files, StoreSnapshot store) {
    this.reader = reader;
    this.files = files;
    this.hash = new KeyHash(store.superblock().hashSeed());
    this.heads = store.geometry().heads();
  }

  /** Whether the object of a key is damaged; false also when that could not be decided. */
  boolean isDamaged(byte[] key) throws NotReadable {
    StoreSnapshot map = reader.read();
    if (map == null) {
      return false;
    }
    long keyWord = Entry.keyWord(hash.of(MemorySegment.ofArray(key), 0, key.length), heads);
    byte[][] before = neighbourhoods(map, keyWord);
    boolean invalid = false;
    for (byte[] entries : before) {
      Finding finding = entries == null ? Finding.UNKNOWN : find(map, keyWord, entries, key);
      if (finding == Finding.SOUND || finding == Finding.UNKNOWN) {
        return false;
      }
      invalid |= finding == Finding.INVALID;
    }
    return invalid && Arrays.deepEquals(before, neighbourhoods(map, keyWord)) && isNewest(map);
  }

  private enum Finding {
    /** No entry has the key word. */
    NONE,
    /** The object of an entry is whole and has the key. */
    SOUND,
    /** The object of an entry is not whole. */
    INVALID,
    /** An object or its map went away while it was checked. */
    UNKNOWN
  }

  private boolean isNewest(StoreSnapshot map) {
    reader.root().load(0, root, 0, Root.LOOK_UP_BYTES);
    return Root.incarnation(root, 0) == map.incarnation() && Root.epoch(root, 0) == map.epoch();
  }

  /**
   * The key word's neighbourhoods: that of the table and, while it is being resized, that of the
   * new one. A neighbourhood that can't be read is null.
   */
  private byte[][] neighbourhoods(StoreSnapshot map, long keyWord) {
    StoreTables tables = map.superblock().tables();
    byte[][] found = new byte[tables.resizing() ? 2 : 1][];
    for (int i = 0; i < found.length; i++) {
      long key = ReachedFiles.tableKey(i == 0 ? tables.generation() : tables.nextGeneration());
      ReachedFiles.Reached table = files.reach(key, map);
      long bucket = Entry.bucket(keyWord, i == 0 ? tables.buckets() : tables.nextBuckets());
      long at = HashTable.entriesOffset() + bucket * Entry.BYTES;
      if (table != null && table.contains(at, Neighbourhood.BYTES)) {
        found[i] = new byte[Neighbourhood.BYTES];
        table.file().load(at, MemorySegment.ofArray(found[i]), 0, Neighbourhood.BYTES);
      }
    }
    return found;
  }

  private Finding find(StoreSnapshot map, long keyWord, byte[] neighbourhood, byte[] key) {
    MemorySegment entries = MemorySegment.ofArray(neighbourhood);
    Finding all = Finding.NONE;
    for (int i = 0;
        (i = Neighbourhood.nextMatch(entries, 0, keyWord, i)) >= 0 && all != Finding.SOUND;
        i++) {
      int offset = VersionWord.committed(Neighbourhood.versionWord(entries, 0, i));
      if (offset != VersionWord.NONE) {
        Finding one = look(map, Entry.headOf(keyWord), offset, key);
        all = one == Finding.NONE ? all : one;
        if (all == Finding.UNKNOWN) {
          return all;
        }
      }
    }
    return all;
  }

  private Finding look(StoreSnapshot map, int head, int offset, byte[] key) {
    LogGeometry geometry = map.geometry();
    int slot = map.slotOf(head, geometry.regionIndex(offset));
    if (slot < 0) {
      return Finding.UNKNOWN;
    }
    long linkWord = map.linkWords()[slot];
    ReachedFiles.Reached region = files.reach(ReachedFiles.regionKey(slot, linkWord), map);
    long place = geometry.place(offset);
    int room = (int) geometry.room(place);
    if (region == null || !region.contains(place, room)) {
      return Finding.UNKNOWN;
    }
    MemorySegment object = MemorySegment.ofArray(new byte[room]);
    region.file().load(place, object, 0, room);
    if (!files.isLinked(region)) {
      return Finding.UNKNOWN;
    }
    int mix = ObjectChecksum.positionMix(head, LogReading.generation(linkWord), offset);
    if (!new ObjectChecksum(object).valid(0, room, mix)) {
      return Finding.INVALID;
    }
    return ObjectLayout.keyEquals(object, 0, MemorySegment.ofArray(key), 0, key.length)
        ? Finding.SOUND
        : Finding.NONE;
  }
}
