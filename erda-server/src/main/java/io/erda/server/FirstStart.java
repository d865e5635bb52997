package io.erda.server;

import io.erda.logstore.LogFiles;
import io.erda.pmem.Listing;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.OpenDirectory;
import io.erda.protocol.Protocol;
import io.erda.server.engine.files.StoreFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Remembers what the opening of a store had to make first: directories, and a new store in them.
 * Where the opening fails, or its server can't be reached after all, that is removed again, because
 * nobody was served and nothing was stored. Whatever was there before stays.
 */
final class FirstStart {
  /** Directories that were not there, the innermost first. */
  private final List<Path> missing = new ArrayList<>();

  private final boolean missesShm;
  private boolean makesStore;

  private FirstStart(Path data) {
    for (Path each = data.toAbsolutePath();
        each != null && !Files.exists(each, LinkOption.NOFOLLOW_LINKS);
        each = each.getParent()) {
      missing.add(each);
    }
    this.missesShm = !Files.exists(data.resolve(Protocol.SHM_DIRECTORY), LinkOption.NOFOLLOW_LINKS);
  }

  /** Looks what is there, before anything is made. */
  static FirstStart before(Path data) {
    return new FirstStart(data);
  }

  /** From now on a store may be made. The directory is locked, and holds nothing else. */
  void makesStore() {
    makesStore = true;
  }

  /**
   * Takes away the directories that were made, as far as they are empty, and what was made in the
   * innermost one, which is still locked and has nothing open: whoever locks it later sees that it
   * has no name. A kill in between leaves an empty store, or a creation that was interrupted: the
   * next start makes a store there all the same.
   */
  void undo(MemoryDirectory directory, OpenDirectory place) {
    if (makesStore) {
      undoStore(directory, place);
    }
    remove(missing);
  }

  private void undoStore(MemoryDirectory directory, OpenDirectory place) {
    try {
      for (String name : directory.names()) {
        if (!isOfCreation(name)) {
          directory.delete(name);
        }
      }
      directory.delete(StoreFiles.SUPERBLOCK);
      directory.sync();
      StoreFiles.MADE_AFTER_REGIONS.forEach(name -> delete(directory, name));
      directory.delete(LogFiles.REGIONS);
      if (missesShm) {
        removeShm(place);
      }
    } catch (IOException e) {
      // What is left is an empty store, or the rest of one: the failure itself is to be told.
    }
  }

  private static boolean isOfCreation(String name) {
    return name.equals(StoreFiles.SUPERBLOCK)
        || name.equals(LogFiles.REGIONS)
        || StoreFiles.MADE_AFTER_REGIONS.contains(name);
  }

  private static void delete(MemoryDirectory directory, String name) {
    try {
      directory.delete(name);
    } catch (IOException e) {
      // It belongs to an interrupted creation now, which the next start replaces.
    }
  }

  private static void removeShm(OpenDirectory place) throws IOException {
    if (place.isDirectory(Protocol.SHM_DIRECTORY)) {
      Path shm = place.at(Protocol.SHM_DIRECTORY);
      for (String name : Listing.names(shm)) {
        Files.deleteIfExists(shm.resolve(name));
      }
      Files.deleteIfExists(shm);
    }
  }

  /**
   * Takes away the directories that were made, as far as they are empty, where the innermost one
   * could not even be opened. Somebody else who has just locked that one can't make his store in
   * it, and hears so.
   */
  void undoDirectories() {
    remove(missing);
  }

  private static void remove(List<Path> directories) {
    try {
      for (Path each : directories) {
        Files.deleteIfExists(each);
      }
    } catch (IOException e) {
      // Somebody has put something there.
    }
  }
}
