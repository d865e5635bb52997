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
 * Remembers what the opening of a store has made: directories, and a new store in them. When the
 * opening fails, or its server can't be reached, {@link #undo} removes these again, because no
 * client has put anything yet. Directories and files that existed before stay.
 */
final class FirstStart {
  /** Directories that did not exist, the innermost first. */
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

  /** Notes which directories exist, before any is made. */
  static FirstStart before(Path data) {
    return new FirstStart(data);
  }

  /**
   * Notes that this start may make a store from now on. The directory is locked, and contains
   * nothing else.
   */
  void makesStore() {
    makesStore = true;
  }

  /**
   * Removes the store's files, if this start made the store, and then the directories that it made,
   * if they are empty. The store's directory is still locked and has no open file; another process
   * that locks it later sees that it has no name any more. A kill in between leaves an empty store
   * or an interrupted creation, and the next start makes a store in its place.
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
      // An empty store, or a part of one, is left behind. The caller reports the failure that led
      // here.
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
      // The file now counts as part of an interrupted creation, which the next start replaces.
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
   * Removes the directories that were made, if they are empty, when the innermost one could not
   * even be opened. A process that has just locked that one can't make its store in it, and gets an
   * error.
   */
  void undoDirectories() {
    remove(missing);
  }

  /** Whether this start has made the outermost of the directories that were missing. */
  boolean hasMadeDirectory() {
    return !missing.isEmpty() && Files.exists(missing.getLast(), LinkOption.NOFOLLOW_LINKS);
  }

  private static void remove(List<Path> directories) {
    for (Path each : directories) {
      try {
        Files.deleteIfExists(each);
      } catch (IOException e) {
        // Another process has made a file in the directory, or the directory around it can't be
        // searched. Then the directories farther out stay too, but where they are empty.
      }
    }
  }
}
