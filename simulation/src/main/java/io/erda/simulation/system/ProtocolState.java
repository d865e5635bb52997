package io.erda.simulation.system;

import io.erda.hashtable.HashTable;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogFiles;
import io.erda.protocol.SuperblockLayout;
import io.erda.server.engine.files.StoreFiles;
import io.erda.simulation.SimulatedDisk;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The state of the protocol that the bytes of a store's files show. When several hold, the first
 * one counts.
 */
public enum ProtocolState {
  /** There is no superblock yet. */
  CREATING,
  /** The table's intent is valid. */
  DISPLACING,
  /** There is a region's file that no record names. */
  LINKING,
  /** A region is retired and its file is still there. */
  RETIRING,
  /** One version word is pending. */
  ONE_PENDING,
  /** Several version words are pending. */
  SEVERAL_PENDING,
  /** Entries are moved into a larger table, or its file is there. */
  DOUBLING,
  /** Entries are moved into a smaller table. */
  HALVING,
  /** Space is reserved for the live objects of a region. */
  CLEANING,
  /** None of the above, and a power failure would lose words. */
  UNDRAINED,
  /** All stores are durable. */
  QUIET;

  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final long INTENT_VALID_AT = 104;
  private static final long RECORDS_AT = 4096;
  private static final long RECORD_BYTES = 64;
  private static final int ENTRY_BYTES = 16;
  private static final long CLEANING_AT = 40;
  private static final int STATE_RETIRED = 0x5A;

  static ProtocolState of(SimulatedDisk disk) {
    if (disk.image(StoreFiles.SUPERBLOCK) == null) {
      return CREATING;
    }
    boolean linking = false;
    int tables = 0;
    int pending = 0;
    for (String name : disk.names()) {
      if (name.startsWith(StoreFiles.TABLE_PREFIX)) {
        MemorySegment table = disk.image(name);
        if (table.get(WORD, INTENT_VALID_AT) != 0) {
          return DISPLACING;
        }
        tables++;
        pending += pending(table);
      }
      linking |=
          name.startsWith(LogFiles.REGION_PREFIX) && !isLinked(disk.image(LogFiles.REGIONS), name);
    }
    if (linking) {
      return LINKING;
    }
    MemorySegment regions = disk.image(LogFiles.REGIONS);
    if (isRetiring(regions)) {
      return RETIRING;
    }
    if (pending > 0) {
      return pending == 1 ? ONE_PENDING : SEVERAL_PENDING;
    }
    if (tables > 1) {
      MemorySegment superblock = disk.image(StoreFiles.SUPERBLOCK);
      return SuperblockLayout.newest(superblock).tables().halving() ? HALVING : DOUBLING;
    }
    if (isCleaning(regions)) {
      return CLEANING;
    }
    return disk.unsettledWords() > 0 ? UNDRAINED : QUIET;
  }

  private static boolean isRetiring(MemorySegment regions) {
    for (long at = RECORDS_AT; isRecord(regions, at); at += RECORD_BYTES) {
      if (regions.get(WORD, at) >>> 56 == STATE_RETIRED) {
        return true;
      }
    }
    return false;
  }

  private static boolean isCleaning(MemorySegment regions) {
    for (long at = RECORDS_AT; isRecord(regions, at); at += RECORD_BYTES) {
      if (regions.get(WORD, at) != 0 && regions.get(WORD, at + CLEANING_AT) != 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether a whole record begins there: a file that is being lengthened may end in the middle of
   * one.
   */
  private static boolean isRecord(MemorySegment regions, long at) {
    return regions != null && at + RECORD_BYTES <= regions.byteSize();
  }

  private static int pending(MemorySegment table) {
    int count = 0;
    for (long at = HashTable.entriesOffset() + 8; at < table.byteSize(); at += ENTRY_BYTES) {
      long word = table.get(WORD, at);
      count += word != VersionWord.MOVED && VersionWord.pending(word) ? 1 : 0;
    }
    return count;
  }

  /** Whether a record names {@code region-SLOT-GENERATION}. */
  private static boolean isLinked(MemorySegment regions, String name) {
    String[] parts = name.split("-");
    long at = RECORDS_AT + RECORD_BYTES * Long.parseLong(parts[1]);
    return isRecord(regions, at) && (int) regions.get(WORD, at) == Integer.parseInt(parts[2]);
  }
}
