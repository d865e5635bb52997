package io.erda.server.engine.files;

import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.protocol.PutMode;
import java.io.IOException;
import java.util.List;

/**
 * The promise of a store: which failures puts survive. It is recorded in the superblock, and kept
 * by all openings.
 *
 * <p>A store that promises {@link Promise#POWER} keeps that promise until an opening asks for less,
 * because otherwise a power failure could lose puts that were acknowledged before. When a store is
 * opened with that promise, parts of it may still be only in the page cache: after an earlier run
 * that promised less, after a kill, or after a copy of the files. So at every opening all files are
 * made durable first, and then the promise is recorded.
 */
public final class StorePromise {
  private StorePromise() {}

  /** Prepares a directory for a new store, and returns the promise of that store. */
  public static Promise ofNewStore(MemoryDirectory directory, Promise wanted, PutMode mode) {
    Promise strongest = mode.promiseMax();
    return prepare(directory, wanted == null ? min(Promise.PROCESS, strongest) : wanted, strongest);
  }

  private static Promise min(Promise one, Promise other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  /**
   * Prepares the directory of a store to keep the promise that the store has, or a new one, and
   * records it. REQUIRES: no memory of the directory is open.
   *
   * @param wanted null: as recorded
   * @return notes for the user, if the promise changed
   */
  public static List<String> keep(MemoryDirectory directory, Promise wanted) throws IOException {
    Superblock superblock = load(directory);
    Promise recorded = superblock.promise();
    Promise kept =
        prepare(directory, wanted == null ? recorded : wanted, superblock.putMode().promiseMax());
    directory.makeDurable();
    if (kept == recorded) {
      return List.of();
    }
    if (kept == Promise.POWER) {
      store(directory, superblock.withPromise(kept));
      return List.of(
          "made everything durable that was stored before: from now on the store promises power");
    }
    // The promise is kept until the superblock that gives it up is stored.
    directory.promise(Survives.POWER_FAILURE);
    store(directory, superblock.withPromise(kept));
    directory.promise(Survives.PROCESS_CRASH);
    return List.of(
        "gave up the promise of power, as was asked: from now on a power failure may damage the"
            + " store and take puts that were acknowledged, earlier ones too");
  }

  /**
   * Prepares the directory. Returns the promise, which may be stronger than the wanted one when
   * that costs nothing.
   *
   * @param strongest the strongest promise of the store's put mode
   */
  private static Promise prepare(MemoryDirectory directory, Promise promise, Promise strongest) {
    if (promise.compareTo(strongest) > 0) {
      throw new ErdaException.Unusable(
          "a store whose puts announce first promises ATOMIC and no more; %s was asked for"
              .formatted(promise));
    }
    boolean power = promise == Promise.POWER;
    Survives survives = directory.promise(power ? Survives.POWER_FAILURE : Survives.PROCESS_CRASH);
    if (power && survives != Survives.POWER_FAILURE) {
      throw new ErdaException.Unusable(
          "these files can't keep the promise of power: %s; use a directory of a disk, or say"
                  .formatted(directory.transience())
              + " --promise process");
    }
    return min(survives == Survives.POWER_FAILURE ? Promise.POWER : Promise.PROCESS, strongest);
  }

  private static Superblock load(MemoryDirectory directory) throws IOException {
    try (PersistentMemory memory = directory.open(StoreFiles.SUPERBLOCK)) {
      return Superblock.load(memory);
    }
  }

  private static void store(MemoryDirectory directory, Superblock superblock) throws IOException {
    try (PersistentMemory memory = directory.open(StoreFiles.SUPERBLOCK)) {
      superblock.store(memory);
    }
  }
}
