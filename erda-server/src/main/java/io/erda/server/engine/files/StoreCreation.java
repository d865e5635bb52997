package io.erda.server.engine.files;

import io.erda.hashtable.HashTable;
import io.erda.hashtable.StructureCounter;
import io.erda.logstore.LogFiles;
import io.erda.logstore.LogStore;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.protocol.StoreTables;
import java.io.IOException;
import java.util.UUID;
import java.util.random.RandomGenerator;

/** Creates a store in an empty directory, or over the files of an interrupted creation. */
public final class StoreCreation {
  private StoreCreation() {}

  /**
   * Whether an interrupted creation may have left a file of this name. Files of regions are
   * excluded, because files with regions are a store that has lost its superblock.
   */
  private static boolean isUnfinished(String name) {
    return name.equals(LogFiles.REGIONS) || StoreFiles.MADE_AFTER_REGIONS.contains(name);
  }

  public static void requireEmpty(MemoryDirectory directory) throws IOException {
    for (String name : directory.names()) {
      if (!isUnfinished(name)) {
        throw new ErdaException.Unusable(
            "this directory is neither a store nor empty: it holds "
                + name
                + " and no "
                + StoreFiles.SUPERBLOCK);
      }
    }
  }

  /**
   * Creates the files. The superblock gets its name last. Files without a superblock are those of
   * an interrupted creation.
   */
  public static void create(
      MemoryDirectory directory, StoreGeometry store, Promise promise, RandomGenerator random)
      throws IOException {
    for (String name : directory.names()) {
      if (isUnfinished(name)) {
        directory.delete(name);
      }
    }
    Superblock superblock =
        new Superblock(
            1,
            new UUID(random.nextLong(), random.nextLong() | 1),
            store.geometry(),
            StoreTables.first(store.buckets()),
            random.nextLong(),
            promise,
            store.putMode());
    LogStore.create(directory, store.geometry(), superblock.store()).close();
    try (PersistentMemory rootMemory = directory.create(StoreFiles.ROOT, RootFile.BYTES)) {
      new RootFile(rootMemory).nextEpoch();
    }
    try (PersistentMemory tableMemory =
        directory.create(
            StoreFiles.table(superblock.tables().generation()),
            HashTable.bytesFor(store.buckets()))) {
      HashTable.create(tableMemory, store.buckets(), new NoMoves());
    }
    try (PersistentMemory memory = directory.create(StoreFiles.SUPERBLOCK_NEW, Superblock.BYTES)) {
      superblock.store(memory);
    }
    directory.sync();
    directory.rename(StoreFiles.SUPERBLOCK_NEW, StoreFiles.SUPERBLOCK);
    directory.sync();
  }

  private static final class NoMoves implements StructureCounter {
    @Override
    public void beginMove() {
      throw new IllegalStateException("nothing moves in a new table");
    }

    @Override
    public void endMove() {
      throw new IllegalStateException("nothing moves in a new table");
    }
  }
}
