package io.erda.server.engine.files;

import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogStore;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.PutMode;
import io.erda.protocol.StoreTables;
import java.io.IOException;
import java.util.List;

/**
 * The options of an opening that concern the shape of the store. Most of the shape is fixed at
 * creation. So an existing store refuses options that contradict it, and reports options without
 * effect in its notes; only the capacity can be changed.
 *
 * @param heads number of heads of the log; 0: any
 * @param regionBytes bytes of a region; 0: any
 * @param segmentBytes bytes of a segment; 0: any
 * @param capacityBytes the length up to which the log may grow from now on; 0: unchanged
 * @param regionsReachable regions that clients can reach, which limits the capacity
 * @param buckets number of buckets of a new table; 0: any
 * @param bucketsMax the most buckets to which the table is doubled
 * @param putMode null: any
 */
public record StoreWishes(
    int heads,
    long regionBytes,
    int segmentBytes,
    long capacityBytes,
    int regionsReachable,
    long buckets,
    long bucketsMax,
    PutMode putMode) {
  /** No wishes; the store stays as it is. */
  public static final StoreWishes NONE =
      new StoreWishes(0, 0, 0, 0, LogGeometry.REGIONS_MAX, 0, StoreGeometry.BUCKETS_MAX, null);

  /**
   * Compares this with the store in a directory, if there is one. Changes nothing.
   *
   * @throws ErdaException.Unusable when these wishes contradict the store
   * @throws ErdaException.Damaged when its superblock or its region table is damaged
   */
  public void require(MemoryDirectory directory) throws IOException {
    if (!directory.exists(StoreFiles.SUPERBLOCK)) {
      return;
    }
    Superblock superblock;
    try (PersistentMemory memory = directory.open(StoreFiles.SUPERBLOCK)) {
      superblock = Superblock.load(memory);
    }
    LogGeometry geometry = superblock.geometry();
    requireSame("put mode", superblock.putMode(), putMode);
    requireSame("heads (--heads)", geometry.heads(), heads == 0 ? null : heads);
    requireSame(
        "bytes of a region (--region-bytes)",
        geometry.regionBytes(),
        regionBytes == 0 ? null : regionBytes);
    requireSame(
        "bytes of a segment (--segment-bytes)",
        geometry.segmentBytes(),
        segmentBytes == 0 ? null : segmentBytes);
    int regions = regions(geometry);
    if (regions < geometry.regionsMax()) {
      requireEnough(regions, geometry, LogStore.regionsNeeded(directory, geometry));
    }
  }

  private static void requireSame(String what, Object is, Object wanted) {
    if (wanted != null && !wanted.equals(is)) {
      throw new ErdaException.Unusable(
          "the store was created with %s %s, which can't be changed; %s was asked for"
              .formatted(what, is, wanted));
    }
  }

  private void requireEnough(int regions, LogGeometry geometry, int needed) {
    if (regions < needed) {
      throw new ErdaException.Unusable(
          ("the capacity (--capacity) can't be %d bytes: the log's files take %d regions of %d"
                  + " bytes, with one to clean into, so at least %d; 'erda clean', while the store"
                  + " is served as it is, makes them fewer")
              .formatted(
                  capacityBytes, needed, geometry.regionBytes(), needed * geometry.regionBytes()));
    }
  }

  /** Returns the largest number of regions with which the log stays within the capacity. */
  private int regions(LogGeometry geometry) {
    if (capacityBytes == 0) {
      return geometry.regionsMax();
    }
    long regions = capacityBytes / geometry.regionBytes();
    long reach = (long) geometry.heads() * (int) ((1L << 34) / geometry.regionBytes());
    String wrong = null;
    // A store with only as many regions as heads is accepted if it already has that number, because
    // earlier versions made such stores.
    if (regions <= geometry.heads() && regions != geometry.regionsMax()) {
      wrong =
          "it holds "
              + regions
              + (regions == 1 ? " region" : " regions")
              + " of %d bytes, and the store has %d "
              + (geometry.heads() == 1 ? "head" : "heads")
              + ": a log needs one region more than heads, to be cleaned into";
    } else if (regions > reach) {
      wrong =
          "regions of %d bytes are linked to %d heads, each of which reaches 16 GiB; a new store"
              + " has more heads";
    } else if (regions > regionsReachable) {
      wrong =
          "it takes more regions of %d bytes than clients reach, whatever the heads (%d); a new"
              + " store has larger regions";
    }
    if (wrong != null) {
      throw new ErdaException.Unusable(
          "the capacity (--capacity) can't be %d bytes: ".formatted(capacityBytes)
              + wrong.formatted(geometry.regionBytes(), geometry.heads()));
    }
    return (int) regions;
  }

  /**
   * Changes the store's capacity, if a different one is wished. The region table gets its new slots
   * before the superblock is stored, because it is also valid for the former capacity. REQUIRES:
   * {@link #require} did not throw, and the log is not open.
   *
   * @param memory where {@code superblock} is stored
   * @param notes receives a sentence for each change, and for each wish that has no effect
   * @return the superblock as it is stored now
   */
  public Superblock fulfil(
      MemoryDirectory directory, Superblock superblock, PersistentMemory memory, List<String> notes)
      throws IOException {
    tellBuckets(superblock, notes);
    LogGeometry geometry = superblock.geometry();
    int regions = regions(geometry);
    if (regions == geometry.regionsMax()) {
      return superblock;
    }
    LogGeometry resized = geometry.withRegionsMax(regions);
    LogStore.makeSlots(directory, resized);
    Superblock changed = superblock.withGeometry(resized);
    changed.store(memory);
    notes.add(
        "%s the capacity from %d to %d bytes, as was asked"
            .formatted(
                regions > geometry.regionsMax() ? "raised" : "lowered",
                geometry.capacityBytes(),
                resized.capacityBytes()));
    return changed.stored();
  }

  private void tellBuckets(Superblock superblock, List<String> notes) {
    StoreTables tables = superblock.tables();
    if (buckets != 0 && buckets != tables.buckets() && buckets != tables.bucketsLeast()) {
      notes.add(
          "%d buckets (--buckets) have no effect: the store has %d, and changes them by itself"
              .formatted(buckets, tables.buckets()));
    }
    if (bucketsMax < tables.buckets()) {
      notes.add(
          "at most %d buckets (--buckets-max) are fewer than the store has: it keeps its %d"
              .formatted(bucketsMax, tables.buckets()));
    }
  }
}
