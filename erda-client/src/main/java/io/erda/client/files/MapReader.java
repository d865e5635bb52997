package io.erda.client.files;

import io.erda.logstore.DamagedLogException;
import io.erda.logstore.LogFiles;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogReading;
import io.erda.pmem.FileErrors;
import io.erda.pmem.NotAMemoryException;
import io.erda.pmem.ReadableDirectory;
import io.erda.pmem.ReadableFile;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Root;
import io.erda.protocol.StopHeader;
import io.erda.protocol.SuperblockLayout;
import io.erda.rdma.Status;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Reads the region map, which a server would send in its answer to MAP, from the superblock and the
 * region table, while a server may be changing both. Owns the files that it opens.
 *
 * <p><b>Why the map is as good as a server's answer.</b> The server stores the contents of a map
 * before it makes the epoch newer, and uses regions and tables of the map only afterwards: it links
 * a region, and notes a resizing, before they hold anything that a reader needs. A region or table
 * is removed before the epoch grows, too, but only when no reader needs it: no word names a retired
 * region, and every entry of a resized table has moved. When a halving turns into a doubling,
 * nothing moves between the last move of one epoch and the first of the next, so that either order
 * of the two tables is right. So at any moment of an epoch the superblock and the region table name
 * at least what the words of that epoch need. This class reads incarnation and epoch first, and the
 * map is used only while the root shows the same; so each word of the map was stored at some moment
 * of that epoch, and a region that the map names in excess is empty. (Reading the epoch again
 * afterwards only avoids a map that is already old: each look-up checks the root itself.) The link
 * word, read after each READ of a region, shows whether the region is still linked ({@link
 * ReachedFiles}).
 *
 * <p><b>A store without a server</b> is read as its last server left it, just as clients go on
 * reading that were connected. After a restart of the machine this is not correct: a power failure
 * may have made the word of an acknowledged put pending again, and only recovery decides that word.
 * The root names the boot of the machine in which its incarnation began. After another boot the
 * store is readable only if there is a record of a clean stop.
 */
final class MapReader implements AutoCloseable {
  /**
   * The largest record of a clean stop that is read: that of a table of 64 GiB, 4 billion entries.
   * A longer file is no valid record.
   */
  private static final int STOP_RECORD_BYTES_MAX = 1 << 26;

  /** Attempts in one call. A change takes the server some microseconds, and changes are rare. */
  private static final int ATTEMPTS_MAX = 16;

  private final ReadableDirectory directory;
  private final ReadableFile root;
  private final ReadableFile superblock;

  /** The newest mapping of the region table. The table is mapped again when its file has grown. */
  private ReadableFile regions;

  /** Older mappings of the region table, which are too short now but may still be in use. */
  private final List<ReadableFile> outgrown = new ArrayList<>();

  /** A copy of the root, made before the other files are read. */
  private final MemorySegment look = MemorySegment.ofArray(new long[Root.BYTES / Long.BYTES]);

  private final MemorySegment copies =
      MemorySegment.ofArray(new long[(int) SuperblockLayout.BYTES / Long.BYTES]);

  private final MemorySegment header =
      MemorySegment.ofArray(new long[LogReading.HEADER_BYTES / Long.BYTES]);

  private MapReader(
      ReadableDirectory directory,
      ReadableFile root,
      ReadableFile superblock,
      ReadableFile regions) {
    this.directory = directory;
    this.root = root;
    this.superblock = superblock;
    this.regions = regions;
  }

  /**
   * Opens a store's files.
   *
   * @throws NotReadable when there is no store, or this user may not read it
   */
  static MapReader open(ReadableDirectory directory) throws NotReadable {
    ReadableFile[] files = new ReadableFile[3];
    boolean done = false;
    try {
      // A creation of a store gives the superblock its name last.
      files[1] = open(directory, SuperblockLayout.FILE, SuperblockLayout.BYTES);
      shareRoot(directory);
      files[0] = open(directory, Root.FILE, Root.BYTES);
      files[2] = open(directory, LogFiles.REGIONS, LogReading.HEADER_BYTES);
      MapReader reader = new MapReader(directory, files[0], files[1], files[2]);
      done = true;
      return reader;
    } finally {
      for (ReadableFile file : files) {
        if (!done && file != null) {
          file.close();
        }
      }
    }
  }

  /**
   * Opens the root so that this process takes part in the lock of the file: a starting server marks
   * the root, and must see the processes that have it open.
   */
  private static void shareRoot(ReadableDirectory directory) throws NotReadable {
    try {
      directory.shareWithWriters(Root.FILE);
    } catch (IOException e) {
      throw notReadable(Root.FILE, e);
    }
  }

  private static ReadableFile open(ReadableDirectory directory, String name, long bytes)
      throws NotReadable {
    try {
      ReadableFile file = directory.open(name);
      if (file.length() >= bytes) {
        return file;
      }
      file.close();
      throw new NotReadable(
          Status.REJECTED, name + " is " + file.length() + " bytes long, not " + bytes);
    } catch (IOException e) {
      throw notReadable(name, e);
    }
  }

  /**
   * Opens the store's directory.
   *
   * @throws NotReadable when there is no directory, or this user may not enter it
   */
  static ReadableDirectory openDirectory(ReadableDirectory.Place place) throws NotReadable {
    try {
      return place.open();
    } catch (NotDirectoryException e) {
      throw new NotReadable(Status.ABSENT, SuperblockLayout.FILE);
    } catch (IOException e) {
      throw notReadable(SuperblockLayout.FILE, e);
    }
  }

  private static NotReadable notReadable(String name, IOException e) {
    return switch (e) {
      case NoSuchFileException ignored -> new NotReadable(Status.ABSENT, name);
      case AccessDeniedException ignored -> new NotReadable(Status.DENIED, name);
      default ->
          new NotReadable(Status.REJECTED, name + " can't be read: " + FileErrors.inWords(e));
    };
  }

  ReadableFile root() {
    return root;
  }

  /** The mapping of the region table that covers the map of the last {@link #read}. */
  ReadableFile regions() {
    return regions;
  }

  /**
   * Returns the current map; null when the server changed the map during each attempt. Then try
   * again a little later.
   *
   * @throws NotReadable when the store can't be read now, or is damaged
   */
  StoreSnapshot read() throws NotReadable {
    NotReadable torn = null;
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      root.load(0, look, 0, Root.WORDS_BYTES);
      try {
        StoreSnapshot snapshot = readOnce();
        torn = null;
        if (isStill(snapshot)) {
          return snapshot;
        }
      } catch (ErdaException.Damaged | ErdaException.Unusable | DamagedLogException e) {
        // Both copies of the superblock may have been read while they were stored.
        torn = new NotReadable(Status.REJECTED, e.getMessage());
      }
    }
    if (torn != null) {
      throw torn;
    }
    return null;
  }

  private boolean isStill(StoreSnapshot snapshot) {
    return root.word(Root.INCARNATION_OFFSET) == snapshot.incarnation()
        && epochNow() == snapshot.epoch();
  }

  private long epochNow() {
    return root.word(Root.EPOCH_OFFSET);
  }

  private StoreSnapshot readOnce() throws NotReadable {
    long incarnation = Root.incarnation(look, 0);
    for (long at = 0; at < SuperblockLayout.BYTES; at += SuperblockLayout.COPY_STRIDE) {
      superblock.load(at, copies, at, SuperblockLayout.COPY_BYTES);
    }
    SuperblockLayout.Fields fields = SuperblockLayout.newest(copies);
    requireRecovered(incarnation, Root.boot(look, 0), fields.store());
    LogGeometry geometry = geometry(fields);
    if (regions.length() < LogReading.tableBytes(geometry)) {
      ReadableFile longer = open(directory, LogFiles.REGIONS, LogReading.HEADER_BYTES);
      outgrown.add(regions);
      regions = longer;
    }
    requireRegions(geometry, fields.store());
    long[] linkWords = new long[geometry.slots()];
    int linked = 0;
    for (int slot = 0; slot < linkWords.length; slot++) {
      long word = regions.word(LogReading.linkWordAt(slot));
      linkWords[slot] = word;
      linked += LogReading.isLinked(word) ? 1 : 0;
    }
    return new StoreSnapshot(incarnation, Root.epoch(look, 0), fields, geometry, linkWords, linked);
  }

  private static LogGeometry geometry(SuperblockLayout.Fields fields) {
    try {
      return new LogGeometry(
          fields.heads(),
          fields.regionBytes(),
          fields.segmentBytes(),
          fields.regionsMax(),
          fields.slots());
    } catch (IllegalArgumentException e) {
      throw new ErdaException.Damaged("superblock is damaged: " + e.getMessage());
    }
  }

  private void requireRegions(LogGeometry geometry, UUID store) {
    if (regions.length() < LogReading.tableBytes(geometry)) {
      throw new DamagedLogException(
          "region table has "
              + regions.length()
              + " bytes, must have "
              + LogReading.tableBytes(geometry));
    }
    regions.load(0, header, 0, LogReading.HEADER_BYTES);
    LogReading.checkTable(header, geometry, store);
  }

  private void requireRecovered(long incarnation, long boot, UUID store) throws NotReadable {
    if (incarnation == 0 || (boot != directory.boot() && !isStopped(store, incarnation))) {
      throw new NotReadable(Status.UNRECOVERED, "");
    }
  }

  private boolean isStopped(UUID store, long incarnation) throws NotReadable {
    try (ReadableFile file = directory.open(StopHeader.FILE)) {
      if (file.length() > STOP_RECORD_BYTES_MAX) {
        return false;
      }
      MemorySegment record =
          MemorySegment.ofArray(new long[(int) ((file.length() + 7) / Long.BYTES)])
              .asSlice(0, file.length());
      file.load(0, record, 0, (int) file.length());
      return StopHeader.useless(record, store, incarnation) == null;
    } catch (AccessDeniedException e) {
      throw new NotReadable(Status.DENIED, StopHeader.FILE);
    } catch (NoSuchFileException | NotAMemoryException e) {
      // The file was just removed, or never existed.
      return false;
    } catch (IOException e) {
      throw new NotReadable(
          Status.REJECTED, StopHeader.FILE + " can't be read: " + FileErrors.inWords(e));
    }
  }

  @Override
  public void close() {
    root.close();
    superblock.close();
    regions.close();
    outgrown.forEach(ReadableFile::close);
  }
}
