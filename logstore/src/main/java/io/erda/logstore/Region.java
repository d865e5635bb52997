package io.erda.logstore;

import io.erda.pmem.PersistentMemory;

/**
 * A region that is linked to a head. Owned by its {@link LogStore}.
 *
 * @param slot its record in the region table
 * @param head the head it is linked to
 * @param index its place along the head's regions
 * @param generation never repeated in a store
 */
public record Region(
    int slot,
    int head,
    int index,
    int generation,
    PersistentMemory memory,
    ObjectChecksum checksum) {
  /** Bytes of the header at the beginning of every region; see {@code FORMAT.md}. */
  public static final int HEADER_BYTES = 64;

  /** Returns the region's place and file, for messages. */
  @Override
  public String toString() {
    return "region " + index + " of head " + head + " (" + LogFiles.region(slot, generation) + ")";
  }
}
