package io.erda.server.engine.store;

import io.erda.hashtable.DamagedTableException;
import io.erda.hashtable.HashTable;
import io.erda.logstore.DamagedLogException;
import io.erda.logstore.LogStore;
import io.erda.pmem.FileErrors;
import io.erda.pmem.Leftovers;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.NotAMemoryException;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.protocol.StoreTables;
import io.erda.protocol.SuperblockLayout;
import io.erda.server.engine.files.CommitsFile.Standing;
import io.erda.server.engine.files.RootFile;
import io.erda.server.engine.files.StopRecord;
import io.erda.server.engine.files.StoreCreation;
import io.erda.server.engine.files.StoreFiles;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.files.StorePromise;
import io.erda.server.engine.files.StoreWishes;
import io.erda.server.engine.files.Superblock;
import io.erda.server.engine.files.SuperblockFile;
import io.erda.server.engine.tables.KeyWords;
import io.erda.server.engine.tables.PendingWords;
import io.erda.server.engine.tables.Tables;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** Opens the store of a directory: checks its files, and recovers it. */
public final class StoreOpening {
  private StoreOpening() {}

  /**
   * {@link #open(MemoryDirectory, StoreGeometry, Promise, RandomGenerator)} with the store's own
   * promise.
   */
  public static StoreEngine open(
      MemoryDirectory directory, StoreGeometry create, RandomGenerator random) {
    return open(directory, create, null, random);
  }

  /**
   * Opens the store of a directory, or creates it there when the directory is empty. The caller
   * holds the directory's lock.
   *
   * @param create the geometry of a new store; ignored for an existing store; null: the store must
   *     exist
   * @param wanted the failures that puts must survive from now on; null: the present promise of the
   *     store, or a stronger one if the directory offers it at no cost
   * @throws ErdaException.Unusable when the directory is not a store of this version
   * @throws ErdaException.Damaged when its structures are damaged, or differ from those at the last
   *     clean stop
   * @throws ErdaException.Full when there is no room to create it
   */
  public static StoreEngine open(
      MemoryDirectory directory, StoreGeometry create, Promise wanted, RandomGenerator random) {
    return open(directory, create, StoreWishes.NONE, wanted, random, false);
  }

  /**
   * Opens or creates a store as the method above, and fulfils the wishes for an existing store.
   * REQUIRES: {@link StoreWishes#require} did not throw.
   */
  public static StoreEngine open(
      MemoryDirectory directory,
      StoreGeometry create,
      StoreWishes wishes,
      Promise wanted,
      RandomGenerator random) {
    return open(directory, create, wishes, wanted, random, false);
  }

  /**
   * Opens a store to inspect it, even if its tables differ from those at the last stop: see {@link
   * StoreEngine#stopped()}. REQUIRES: changes in the directory are temporary.
   */
  public static StoreEngine look(MemoryDirectory directory, RandomGenerator random) {
    return open(directory, null, StoreWishes.NONE, null, random, true);
  }

  private static StoreEngine open(
      MemoryDirectory directory,
      StoreGeometry create,
      StoreWishes wishes,
      Promise wanted,
      RandomGenerator random,
      boolean looking) {
    try {
      if (!directory.exists(StoreFiles.SUPERBLOCK)) {
        StoreCreation.requireEmpty(directory);
        if (create == null) {
          throw new ErdaException.Unusable("there is no store in this directory");
        }
        StoreCreation.create(
            directory,
            create,
            StorePromise.ofNewStore(directory, wanted, create.putMode()),
            random);
      }
      if (!looking) {
        LateCommits.fence(directory);
      }
      StopRecord.Verdict stopped = checkStopRecord(directory, looking);
      List<String> notes = new ArrayList<>(StorePromise.keep(directory, wanted));
      return openExisting(directory, stopped, wishes, notes, looking);
    } catch (OutOfSpaceException e) {
      throw new ErdaException.Full(ErdaException.Full.What.DISK, e.getMessage());
    } catch (NoSuchFileException e) {
      throw new ErdaException.Damaged("a file of the store is missing: " + e.getMessage());
    } catch (DamagedTableException | DamagedLogException e) {
      throw new ErdaException.Damaged(e.getMessage());
    } catch (IOException e) {
      throw new ErdaException.Unusable("the store can't be opened: " + FileErrors.inWords(e), e);
    } catch (UncheckedIOException e) {
      throw new ErdaException.Unusable("the store can't be opened: " + FileErrors.inWords(e), e);
    }
  }

  /** Opens an existing store. All its files are durable, which later stores depend on. */
  private static StoreEngine openExisting(
      MemoryDirectory ofStore,
      StopRecord.Verdict stopped,
      StoreWishes wishes,
      List<String> notes,
      boolean looking)
      throws IOException {
    if (stopped.state() != StopRecord.State.DIFFERS) {
      StopRecord.remove(ofStore);
    }
    Leftovers leftovers = new Leftovers(ofStore);
    MemoryDirectory directory = leftovers.directory();
    PersistentMemory superblockMemory = directory.open(StoreFiles.SUPERBLOCK);
    RootFile root = root(directory.open(StoreFiles.ROOT));
    Superblock superblock =
        removeOldTables(directory, leftovers, superblock(superblockMemory), superblockMemory);
    superblock = wishes.fulfil(directory, superblock, superblockMemory, notes);
    List<Standing> late = List.of();
    if (!looking) {
      LateCommits.Settled settled =
          LateCommits.settle(directory, leftovers, superblock, superblockMemory, notes);
      superblock = settled.superblock();
      late = settled.kept();
    }
    StoreTables named = superblock.tables();
    Tables.Generation current = table(directory, named.generation(), named.buckets(), root);
    Tables.Generation next =
        named.resizing()
            ? table(directory, named.nextGeneration(), named.nextBuckets(), root)
            : null;
    Tables tables = new Tables(current, next);
    StoreParts parts =
        new StoreParts(
            directory,
            leftovers,
            new SuperblockFile(superblockMemory, superblock),
            root,
            tables,
            new PendingWords(tables, current.memory().visibleBeforeDurable()),
            LogStore.open(leftovers, superblock.geometry(), superblock.store()),
            new KeyWords(superblock.hashSeed(), superblock.geometry().heads()));
    LateCommits.keep(late, tables, parts.log());
    RecoveryReport recovery = new Recovery(parts).run(notes, stopped);
    return new StoreEngine(parts, stopped, looking || !late.isEmpty(), recovery);
  }

  /** Loads the superblock, and converts one of an earlier layout before anything else is stored. */
  private static Superblock superblock(PersistentMemory memory) {
    Superblock superblock = Superblock.load(memory);
    if (SuperblockLayout.isOfToday(memory.segment())) {
      return superblock;
    }
    superblock.again().store(memory);
    return superblock.again().stored();
  }

  private static RootFile root(PersistentMemory memory) {
    if (memory.segment().byteSize() < RootFile.BYTES) {
      throw new ErdaException.Damaged(
          "root is " + memory.segment().byteSize() + " bytes long, not " + RootFile.BYTES);
    }
    return new RootFile(memory);
  }

  /** Compares a store that is not open with the record of its last clean stop. */
  public static StopRecord.Verdict compareWithStop(MemoryDirectory directory) throws IOException {
    try (PersistentMemory superblock = directory.open(StoreFiles.SUPERBLOCK);
        PersistentMemory root = directory.open(StoreFiles.ROOT)) {
      return StopRecord.check(directory, Superblock.load(superblock), root(root).incarnation());
    }
  }

  /**
   * Compares the store with its record of a clean stop, before anything is stored, even the
   * promise, so that a refused opening has changed nothing. A store that differs from its record is
   * never served, because a key may be lost, or have an old value. Leaves no memory of the
   * directory open.
   */
  private static StopRecord.Verdict checkStopRecord(MemoryDirectory directory, boolean looking)
      throws IOException {
    StopRecord.Verdict stopped = compareWithStop(directory);
    if (stopped.state() == StopRecord.State.DIFFERS && !looking) {
      throw new ErdaException.Damaged(
          "the store was stopped cleanly and is not what it was then: "
              + stopped.words().getFirst()
              + (stopped.words().size() > 1 ? ", and more" : "")
              + ". Puts may be lost: see what 'erda verify' finds, or bring a backup back. Without"
              + " the file '"
              + StoreFiles.STOPPED
              + "' what is there is opened as it is");
    }
    return stopped;
  }

  private static Tables.Generation table(
      MemoryDirectory directory, int generation, long buckets, RootFile root) throws IOException {
    String name = StoreFiles.table(generation);
    PersistentMemory memory = directory.open(name);
    HashTable table;
    try {
      table = HashTable.open(memory, root);
    } catch (DamagedTableException e) {
      throw new ErdaException.Damaged(name + ": " + e.getMessage());
    }
    if (table.buckets() != buckets) {
      throw new ErdaException.Damaged(
          name + " has " + table.buckets() + " buckets, the superblock says " + buckets);
    }
    return new Tables.Generation(generation, memory, table);
  }

  /**
   * Removes tables that the superblock does not name: a table that was being created, or one that
   * was replaced. Both copies of the superblock must agree before that, because the older copy may
   * name such a table. All entries of such a table are also in another table; otherwise the
   * superblock is not the newest of this store, and the opening fails. A table that a stopped
   * client may still change was copied.
   */
  private static Superblock removeOldTables(
      MemoryDirectory directory,
      Leftovers leftovers,
      Superblock superblock,
      PersistentMemory superblockMemory)
      throws IOException {
    Superblock stored = superblock;
    for (String name : directory.names()) {
      if (StoreFiles.isTable(name) && !names(superblock, name)) {
        if (!LateCommits.hasLeft(directory, superblock.tables(), name)) {
          requireNoEntries(directory, name);
        }
        if (stored == superblock) {
          superblock.again().store(superblockMemory);
          stored = superblock.again().stored();
        }
        leftovers.remove(name);
      }
    }
    return stored;
  }

  private static void requireNoEntries(MemoryDirectory directory, String table) throws IOException {
    try (PersistentMemory memory = directory.open(table)) {
      if (HashTable.holdsEntries(memory.segment())) {
        throw new ErdaException.Damaged(
            table + " holds entries, and " + StoreFiles.SUPERBLOCK + " does not name it");
      }
    } catch (NotAMemoryException e) {
      // The file is too short to be opened as a table, because a kill interrupted its creation. It
      // is removed like the others.
    }
  }

  private static boolean names(Superblock superblock, String table) {
    StoreTables named = superblock.tables();
    return table.equals(StoreFiles.table(named.generation()))
        || (named.resizing() && table.equals(StoreFiles.table(named.nextGeneration())));
  }
}
