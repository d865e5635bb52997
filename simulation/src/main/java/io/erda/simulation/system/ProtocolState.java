package io.erda.simulation.system;

import io.erda.hashtable.HashTable;
import io.erda.hashtable.VersionWord;
import io.erda.simulation.SimulatedDisk;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * What the store was in the middle of, as the bytes of its files say. Where several hold, the first
 * one counts.
 */
public enum ProtocolState {
  /** There is no superblock yet. */
  CREATING,
  /** The table's intent is valid. */
  DISPLACING,
  /** A region's file is there that no record names. */
  LINKING,
  /** One version word is pending. */
  ONE_PENDING,
  /** Several are. */
  SEVERAL_PENDING,
  /** Nothing of the above, and a power failure would lose words. */
  UNDRAINED,
  /** Everything that was stored is durable. */
  QUIET;

  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final long INTENT_VALID_AT = 104;
  private static final long RECORDS_AT = 4096;
  private static final long RECORD_BYTES = 64;
  private static final int ENTRY_BYTES = 16;

  static ProtocolState of(SimulatedDisk disk) {
    if (disk.image("superblock") == null) {
      return CREATING;
    }
    boolean linking = false;
    int pending = 0;
    for (String name : disk.names()) {
      if (name.startsWith("table-")) {
        MemorySegment table = disk.image(name);
        if (table.get(WORD, INTENT_VALID_AT) != 0) {
          return DISPLACING;
        }
        pending += pending(table);
      }
      linking |= name.startsWith("region-") && !isLinked(disk.image("regions"), name);
    }
    if (linking) {
      return LINKING;
    }
    if (pending > 0) {
      return pending == 1 ? ONE_PENDING : SEVERAL_PENDING;
    }
    return disk.unsettledWords() > 0 ? UNDRAINED : QUIET;
  }

  private static int pending(MemorySegment table) {
    int count = 0;
    for (long at = HashTable.entriesOffset() + 8; at < table.byteSize(); at += ENTRY_BYTES) {
      count += VersionWord.pending(table.get(WORD, at)) ? 1 : 0;
    }
    return count;
  }

  /** Whether a record names {@code region-SLOT-GENERATION}. */
  private static boolean isLinked(MemorySegment regions, String name) {
    if (regions == null) {
      return false;
    }
    String[] parts = name.split("-");
    long at = RECORDS_AT + RECORD_BYTES * Long.parseLong(parts[1]);
    return at < regions.byteSize() && (int) regions.get(WORD, at) == Integer.parseInt(parts[2]);
  }
}
