package io.erda.simulation.system;

import io.erda.hashtable.Entry;
import io.erda.hashtable.HashTable;
import io.erda.hashtable.KeyHash;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogFiles;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.protocol.Root;
import io.erda.server.engine.files.StoreFiles;
import io.erda.simulation.SimulatedDisk;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongToIntFunction;

/**
 * The content of a store's files, read without the store's own code: for reports and for damage.
 */
final class StoreView {
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final long HASH_SEED_AT = 72;
  private static final long COPY_BYTES = 4096;
  private static final long RECORDS_AT = 4096;
  private static final long RECORD_BYTES = 64;
  private static final int STATE_LINKED = 0xA5;

  /** An object in a file: the bytes of its checksum, and those that it covers. */
  record Place(String file, long offset, int bytes) {}

  private final SimulatedDisk disk;
  private final LogGeometry geometry;

  StoreView(SimulatedDisk disk, LogGeometry geometry) {
    this.disk = disk;
    this.geometry = geometry;
  }

  /** The place of a key's committed version; null when there is none. */
  Place committed(MemorySegment key) {
    return version(key, VersionWord::committed);
  }

  /** The place of the version before the newest one; null when there is none. */
  Place older(MemorySegment key) {
    return version(key, VersionWord::older);
  }

  private Place version(MemorySegment key, LongToIntFunction which) {
    for (String table : tables()) {
      for (long at : entries(table, key)) {
        int offset = which.applyAsInt(disk.image(table).get(WORD, at + 8));
        Place place = offset == VersionWord.NONE ? null : object(headOf(key), offset);
        if (place != null && isKey(place, key)) {
          return place;
        }
      }
    }
    return null;
  }

  /**
   * Number of entries that were moved, plus one for each table at each start, as the root counts.
   */
  long moves() {
    MemorySegment root = disk.image(StoreFiles.ROOT);
    return root == null || root.byteSize() < Root.BYTES ? 0 : Root.structureCounter(root, 0) / 2;
  }

  /** The entries of a key, visible and durable, and the objects that they name. */
  String describe(MemorySegment key) throws NoSuchFileException {
    StringBuilder text = new StringBuilder();
    if (disk.image(StoreFiles.SUPERBLOCK) == null) {
      return "  there is no store yet\n";
    }
    for (String table : tables()) {
      for (long at : entries(table, key)) {
        long word = disk.image(table).get(WORD, at + 8);
        long durable = disk.durableWord(table, at + 8);
        text.append("  ").append(table).append(", slot ");
        text.append((at - HashTable.entriesOffset()) / Entry.BYTES).append(": ");
        text.append(VersionWord.toString(word));
        text.append(word == durable ? "" : "; durable: " + VersionWord.toString(durable));
        text.append('\n');
        describe(text, headOf(key), VersionWord.newest(word));
        describe(text, headOf(key), VersionWord.older(word));
      }
    }
    return text.isEmpty() ? "  no entry\n" : text.toString();
  }

  private void describe(StringBuilder text, int head, int offset) {
    if (offset == VersionWord.NONE) {
      return;
    }
    text.append("    offset ").append(offset).append(": ");
    Place place = object(head, offset);
    if (place == null) {
      text.append("no whole object\n");
      return;
    }
    MemorySegment region = disk.image(place.file);
    text.append(place.file).append(", byte ").append(place.offset).append(", ");
    text.append(place.bytes).append(" bytes, ");
    if (ObjectLayout.tombstone(region, place.offset)) {
      text.append("tombstone");
    } else {
      long value =
          place.offset + ObjectLayout.KEY_OFFSET + ObjectLayout.keyLength(region, place.offset);
      text.append("value v").append(region.get(WORD.withByteAlignment(1), value));
    }
    text.append(disk.settled(place.file, place.offset, place.bytes) ? "" : ", not durable");
    text.append('\n');
  }

  private List<String> tables() {
    return disk.names().stream().filter(name -> name.startsWith(StoreFiles.TABLE_PREFIX)).toList();
  }

  /** Whether an object has this key; two keys may share a key word. */
  private boolean isKey(Place place, MemorySegment key) {
    return ObjectLayout.keyEquals(
        disk.image(place.file), place.offset, key, 0, (int) key.byteSize());
  }

  /** The seed of the store's hash; 0 while there is no store. */
  long hashSeed() {
    MemorySegment superblock = disk.image(StoreFiles.SUPERBLOCK);
    if (superblock == null || superblock.byteSize() < 2 * COPY_BYTES) {
      return 0;
    }
    long seed = superblock.get(WORD, HASH_SEED_AT);
    return seed == 0 ? superblock.get(WORD, HASH_SEED_AT + COPY_BYTES) : seed;
  }

  private long keyWord(MemorySegment key) {
    return Entry.keyWord(new KeyHash(hashSeed()).of(key, 0, key.byteSize()), geometry.heads());
  }

  private int headOf(MemorySegment key) {
    return Entry.headOf(keyWord(key));
  }

  private List<Long> entries(String table, MemorySegment key) {
    List<Long> entries = new ArrayList<>();
    if (disk.image(StoreFiles.SUPERBLOCK) == null) {
      return entries;
    }
    MemorySegment words = disk.image(table);
    long keyWord = keyWord(key);
    for (long at = HashTable.entriesOffset(); at < words.byteSize(); at += Entry.BYTES) {
      if (words.get(WORD, at) == keyWord && words.get(WORD, at + 8) != 0) {
        entries.add(at);
      }
    }
    return entries;
  }

  /** The whole object at an offset of a head, or null. */
  private Place object(int head, int offset) {
    MemorySegment records = disk.image(LogFiles.REGIONS);
    long slots = records == null ? 0 : (records.byteSize() - RECORDS_AT) / RECORD_BYTES;
    for (int slot = 0; slot < slots; slot++) {
      long link = records.get(WORD, RECORDS_AT + RECORD_BYTES * slot);
      if (link >>> 56 == STATE_LINKED
          && (int) (link >>> 48 & 0xFF) == head
          && (int) (link >>> 32 & 0xFFFF) == geometry.regionIndex(offset)) {
        String file = LogFiles.region(slot, (int) link);
        MemorySegment region = disk.image(file);
        long place = geometry.place(offset);
        int bytes =
            region == null
                ? 0
                : new ObjectChecksum(region)
                    .validBytes(
                        place,
                        geometry.room(place),
                        ObjectChecksum.positionMix(head, (int) link, offset));
        return bytes == 0 ? null : new Place(file, place, bytes);
      }
    }
    return null;
  }
}
