package io.erda.server.engine.files;

import io.erda.pmem.MappedDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.MemoryGuard;
import io.erda.pmem.NotAMemoryException;
import io.erda.pmem.OpenDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Uninterrupted;
import io.erda.protocol.Root;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;

/**
 * A word behind the first copy of the superblock that says that the device did not take bytes of
 * the store. The kernel tells of that only once, so without the mark the next server, which finds
 * those bytes in memory, would take them for stored. It needs no room, because the page is mapped,
 * and does not survive power failure, as those bytes don't either. While files are written once
 * more the file {@code unwritten} says the same, and survives it.
 */
public final class UnwrittenMark {
  /** Where the word is in the superblock's file. */
  private static final long OFFSET = 2048;

  /** "ERDALOST". */
  private static final long MARK = 0x5453_4f4c_4144_5245L;

  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

  private UnwrittenMark() {}

  /**
   * Leaves the mark in the superblock of an open store, which needs no descriptor. A page that
   * can't be stored to is passed over.
   */
  public static void leave(PersistentMemory superblock) {
    new MemoryGuard().attempt(() -> superblock.putLongRelease(OFFSET, MARK), Runnable::run);
  }

  /** Leaves the mark in a directory whose superblock can be opened. Any thread may call this. */
  public static void leave(OpenDirectory directory) {
    try {
      put(directory, MARK);
    } catch (IOException e) {
      // Nor can another server open the store, as long as the page is in memory.
    }
  }

  private static void put(OpenDirectory directory, long word) throws IOException {
    Uninterrupted.call(() -> {
      try (FileChannel superblock =
          FileChannel.open(directory.at(StoreFiles.SUPERBLOCK), StandardOpenOption.WRITE)) {
        return superblock.write(word().putLong(0, word), OFFSET);
      }
    });
  }

  private static ByteBuffer word() {
    return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Whether the mark was left. */
  public static boolean isIn(MemoryDirectory directory) throws IOException {
    if (directory.exists(StoreFiles.UNWRITTEN)) {
      return true;
    }
    if (!directory.exists(StoreFiles.SUPERBLOCK)) {
      return false;
    }
    try (PersistentMemory superblock = directory.open(StoreFiles.SUPERBLOCK)) {
      return superblock.segment().byteSize() >= OFFSET + Long.BYTES
          && superblock.segment().get(WORD, OFFSET) == MARK;
    } catch (NotAMemoryException e) {
      // It is damaged, which is told by who uses it.
      return false;
    }
  }

  /**
   * Whether the mark was left. Looks at two files alone, so it can answer for a directory whose
   * names can't be read.
   */
  public static boolean isIn(OpenDirectory directory) throws IOException {
    if (Files.exists(directory.at(StoreFiles.UNWRITTEN))) {
      return true;
    }
    return Uninterrupted.call(() -> {
      ByteBuffer word = word();
      try (FileChannel superblock =
          FileChannel.open(directory.at(StoreFiles.SUPERBLOCK), StandardOpenOption.READ)) {
        return superblock.read(word, OFFSET) == Long.BYTES && word.getLong(0) == MARK;
      }
    });
  }

  /** Writes all files once more, see {@link MappedDirectory#writeAgain}, and removes the mark. */
  public static long writeAgain(MappedDirectory directory) throws IOException {
    if (directory.exists(StoreFiles.UNWRITTEN)) {
      directory.putBack(StoreFiles.UNWRITTEN);
    } else {
      directory.create(StoreFiles.UNWRITTEN, MappedDirectory.SPARE_BYTES).close();
      directory.syncNames();
    }
    long written = writeAllAgain(directory);
    // A later opening would put back what the file has, over what was stored since.
    directory.delete(StoreFiles.UNWRITTEN);
    directory.syncNames();
    put(directory.opened(), 0);
    return written;
  }

  /**
   * Clients of an earlier server, and those that only read the files, may find a page empty
   * meanwhile. They look again, because the structure counter says that an entry may be on its way.
   * A store that was stopped has an even one, which the record of the stop covers.
   */
  private static long writeAllAgain(MappedDirectory directory) throws IOException {
    boolean stopped = directory.exists(StoreFiles.STOPPED);
    long written;
    try (PersistentMemory root = directory.open(StoreFiles.ROOT)) {
      long before = Root.structureCounter(root.segment(), 0);
      root.putLongRelease(Root.STRUCTURE_COUNTER_OFFSET, before | 1);
      try {
        written = directory.writeAgain(StoreFiles.UNWRITTEN);
      } finally {
        root.putLongRelease(Root.STRUCTURE_COUNTER_OFFSET, stopped ? before & ~1 : before);
      }
    }
    // The device has the odd one.
    directory.sync(StoreFiles.ROOT);
    return written;
  }
}
