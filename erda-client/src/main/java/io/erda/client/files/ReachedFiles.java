package io.erda.client.files;

import io.erda.hashtable.HashTable;
import io.erda.logstore.DamagedLogException;
import io.erda.logstore.LogFiles;
import io.erda.logstore.LogReading;
import io.erda.pmem.FileErrors;
import io.erda.pmem.NotAMemoryException;
import io.erda.pmem.ReadableDirectory;
import io.erda.pmem.ReadableFile;
import io.erda.protocol.StoreTables;
import io.erda.protocol.SuperblockLayout;
import io.erda.rdma.Status;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.function.Supplier;

/**
 * The files of a store that one connection has mapped, by remote key. A key holds the generation of
 * a table or region, which is never used twice in a store, in its upper half, and an array index in
 * the lower half.
 *
 * <p><b>Reused files.</b> The server does not know of this reader, so it may reuse the file of a
 * region that is mapped here. It changes the region's link word before it stores anything for
 * another region. Therefore the link word is read after each READ. When it is unchanged, the bytes
 * belong to the region that the key names. This replaces the registry's check of a remote key.
 */
final class ReachedFiles implements AutoCloseable {
  static final long ROOT = 1;

  private static final int TABLES = 2;
  private static final int REGIONS = 4;
  private static final int GENERATION_SHIFT = 32;

  /**
   * A file that is mapped.
   *
   * @param guardAt the offset of the link word in the region table
   * @param guard the link word's value as long as the file is the region's; 0 for a file that is no
   *     region
   */
  record Reached(long key, ReadableFile file, long guardAt, long guard) {
    boolean contains(long offset, int bytes) {
      return offset >= 0 && bytes >= 0 && bytes <= file.length() - offset;
    }
  }

  private final ReadableDirectory directory;
  private final Supplier<ReadableFile> newestRegions;
  private ReadableFile regions;
  private final MemorySegment header =
      MemorySegment.ofArray(new long[LogReading.HEADER_BYTES / Long.BYTES]);
  private Reached[] byPlace = new Reached[16];
  private int failure;
  private String loss = "";

  /**
   * @param root the open root; borrowed, as the mapping of {@code regions} is
   * @param regions the region table's newest mapping
   */
  ReachedFiles(ReadableDirectory directory, ReadableFile root, Supplier<ReadableFile> regions) {
    this.directory = directory;
    this.newestRegions = regions;
    this.regions = regions.get();
    byPlace[(int) ROOT] = new Reached(ROOT, root, 0, 0);
  }

  static long tableKey(int generation) {
    return (long) generation << GENERATION_SHIFT | TABLES | generation & 1;
  }

  static long regionKey(int slot, long linkWord) {
    return (long) LogReading.generation(linkWord) << GENERATION_SHIFT | REGIONS + slot;
  }

  private static int place(long key) {
    return (int) key;
  }

  /** Returns a file that is already mapped, or null. */
  Reached known(long key) {
    int place = place(key);
    if (place < 0 || place >= byPlace.length) {
      return null;
    }
    Reached reached = byPlace[place];
    return reached != null && reached.key == key ? reached : null;
  }

  /**
   * Whether the bytes loaded from a file before this call belonged to the region or table that its
   * key names.
   */
  boolean isLinked(Reached reached) {
    return reached.guard == 0 || regions.word(reached.guardAt) == reached.guard;
  }

  /**
   * Returns a file, which is mapped now if necessary; null when it can't be mapped, and then {@link
   * #failure()} has the reason.
   *
   * @param map a map that may name it
   */
  Reached reach(long key, StoreSnapshot map) {
    Reached reached = known(key);
    return reached != null ? reached : reachFirst(key, map);
  }

  /** Returns the status that explains why {@link #reach} last returned null. */
  int failure() {
    return failure;
  }

  /**
   * Returns in words why the file could not be mapped: the missing part when the failure was {@link
   * Status#MEMORY_LOST}, and the read error when it was {@link Status#UNREADABLE}.
   */
  String loss() {
    return loss;
  }

  private Reached reachFirst(long key, StoreSnapshot map) {
    failure = Status.REMOTE_ACCESS;
    int place = place(key);
    int generation = (int) (key >>> GENERATION_SHIFT);
    try {
      Reached reached =
          place >= REGIONS
              ? region(key, place - REGIONS, map)
              : place >= TABLES ? table(key, generation, map) : null;
      if (reached != null) {
        keep(place, reached);
      }
      return reached;
    } catch (AccessDeniedException e) {
      failure = Status.DENIED;
    } catch (NotAMemoryException e) {
      if (place >= REGIONS) {
        requireMoved(place - REGIONS, map, e);
      } else {
        // A server removes the file of a table, and puts nothing in its place.
        failure = Status.MEMORY_LOST;
        loss = "a table's file can't be read: " + FileErrors.inWords(e);
      }
    } catch (NoSuchFileException e) {
      requireMoved(place - REGIONS, map, e);
    } catch (IOException e) {
      failure = Status.UNREADABLE;
      loss = FileErrors.inWords(e);
    }
    return null;
  }

  /**
   * Throws unless a file that can't be opened was removed. It was removed if the region's link word
   * has changed, or the map is old.
   */
  private void requireMoved(int slot, StoreSnapshot map, IOException e) {
    if (slot >= 0
        && LogReading.isLinked(map.linkWords()[slot])
        && regions.word(LogReading.linkWordAt(slot)) == map.linkWords()[slot]) {
      failure = Status.MEMORY_LOST;
      loss = "a region's file can't be read: " + FileErrors.inWords(e);
    }
  }

  private void keep(int place, Reached reached) {
    if (place >= byPlace.length) {
      byPlace = Arrays.copyOf(byPlace, Math.max(place + 1, 2 * byPlace.length));
    }
    if (byPlace[place] != null) {
      byPlace[place].file.close();
    }
    byPlace[place] = reached;
  }

  private Reached table(long key, int generation, StoreSnapshot map) throws IOException {
    StoreTables tables = map.superblock().tables();
    boolean next = tables.resizing() && generation == tables.nextGeneration();
    if (!next && generation != tables.generation()) {
      return null;
    }
    ReadableFile file = directory.open(SuperblockLayout.table(generation));
    return isWhole(file, HashTable.bytesFor(next ? tables.nextBuckets() : tables.buckets()))
        ? new Reached(key, file, 0, 0)
        : null;
  }

  private Reached region(long key, int slot, StoreSnapshot map) throws IOException {
    if (slot >= map.linkWords().length) {
      return null;
    }
    regions = newestRegions.get();
    long linkWord = map.linkWords()[slot];
    if (!LogReading.isLinked(linkWord) || regionKey(slot, linkWord) != key) {
      return null;
    }
    ReadableFile file = directory.open(LogFiles.region(slot, LogReading.generation(linkWord)));
    if (!isWhole(file, map.geometry().regionBytes())) {
      return null;
    }
    Reached reached = new Reached(key, file, LogReading.linkWordAt(slot), linkWord);
    file.load(0, header, 0, LogReading.HEADER_BYTES);
    try {
      LogReading.checkRegion(
          header, file.length(), map.geometry(), map.superblock().store(), slot, linkWord);
    } catch (DamagedLogException e) {
      file.close();
      if (isLinked(reached)) {
        failure = Status.MEMORY_LOST;
        loss = e.getMessage();
      }
      return null;
    }
    return reached;
  }

  private boolean isWhole(ReadableFile file, long bytes) {
    if (file.length() >= bytes) {
      return true;
    }
    failure = Status.MEMORY_LOST;
    loss = "%s is too short: it has %d of %d bytes".formatted(file.name(), file.length(), bytes);
    file.close();
    return false;
  }

  /** Closes the file of a key that is not used any more. */
  void forget(long key) {
    Reached reached = known(key);
    if (reached != null && key != ROOT) {
      byPlace[place(key)] = null;
      reached.file.close();
    }
  }

  @Override
  public void close() {
    for (int place = TABLES; place < byPlace.length; place++) {
      if (byPlace[place] != null) {
        byPlace[place].file.close();
        byPlace[place] = null;
      }
    }
  }
}
