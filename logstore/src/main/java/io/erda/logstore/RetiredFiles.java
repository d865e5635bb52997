package io.erda.logstore;

import io.erda.pmem.FileErrors;
import io.erda.pmem.Leftovers;
import io.erda.pmem.MemoryDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Gives the files of retired regions other names, and then removes the regions' records. One
 * thread.
 *
 * <p>A file whose directory may not be written to now keeps its name for a while. Its record stays,
 * as after a crash, so its slot is held: no region is linked there before the file has its other
 * name.
 */
final class RetiredFiles {
  private final MemoryDirectory directory;
  private final RegionTable table;
  private final LinkedRegions linked;
  private final Leftovers leftovers;

  /** The regions whose files have kept their names, and whether each file is to be removed. */
  private final Map<Region, Boolean> unnamed = new LinkedHashMap<>();

  RetiredFiles(
      MemoryDirectory directory, RegionTable table, LinkedRegions linked, Leftovers leftovers) {
    this.directory = directory;
    this.table = table;
    this.linked = linked;
    this.leftovers = leftovers;
  }

  /**
   * Gives the file of a retired region its other name, and removes the record, durably; or notes
   * that the file keeps its name for now.
   *
   * @throws UncheckedIOException when that fails for another reason than that the directory may not
   *     be written to now, or the name is not durable
   */
  void finish(Region region) {
    try {
      rename(region);
    } catch (AccessDeniedException e) {
      unnamed.put(region, false);
      linked.hold(region.slot());
      leftovers.undone(
          FileErrors.inWords(e)
              + ": the file of a region that was cleaned keeps its name for now, and no other"
              + " region takes its place");
      return;
    } catch (IOException e) {
      throw failed(region, e);
    }
    removeRecord(region);
  }

  /** Whether the file of a region has kept its name. */
  boolean isUnnamed(Region region) {
    return unnamed.containsKey(region);
  }

  /** Removes the file of a region as soon as that is possible. */
  void remove(Region region) {
    if (unnamed.replace(region, true) == null) {
      leftovers.remove(SpareFiles.nameOfLeft(region.generation()));
    }
  }

  /** Tries again to finish what {@link #finish} could not. Throws as that. */
  void again() {
    for (Region region : List.copyOf(unnamed.keySet())) {
      try {
        rename(region);
      } catch (AccessDeniedException e) {
        continue;
      } catch (IOException e) {
        throw failed(region, e);
      }
      removeRecord(region);
      linked.letGo(region.slot());
      if (unnamed.remove(region)) {
        remove(region);
      }
    }
  }

  private void rename(Region region) throws IOException {
    directory.rename(
        LogFiles.region(region.slot(), region.generation()),
        SpareFiles.nameOfLeft(region.generation()));
  }

  private void removeRecord(Region region) {
    try {
      directory.sync();
    } catch (IOException e) {
      throw failed(region, e);
    }
    table.storeLinkWord(region.slot(), 0);
    table.drain();
  }

  private static UncheckedIOException failed(Region region, IOException e) {
    return new UncheckedIOException("can't remove " + region, e);
  }
}
