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
 * What puts survive is a property of the store, kept over all its openings, and recorded in its
 * superblock.
 *
 * <p>A store that was told to promise {@link Promise#POWER} goes on to promise it until somebody
 * asks for less: an opening that left it out would let a power failure take what was acknowledged
 * before. And whoever opens it with that promise finds a store that others may have left in the
 * page cache: an earlier run that promised less, one that was killed, a program that copied the
 * files. So everything that is there is made durable first, at every opening, and the promise is
 * recorded behind it.
 */
public final class StorePromise {
  private StorePromise() {}

  /** Prepares a directory for a store that is to be created in it; what that will promise. */
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
   * @return notes for the user, where the promise became another one
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
    // The last store of which the promise is kept says that there is no promise any more.
    directory.promise(Survives.POWER_FAILURE);
    store(directory, superblock.withPromise(kept));
    directory.promise(Survives.PROCESS_CRASH);
    return List.of(
        "gave up the promise of power, as was asked: from now on a power failure may damage the"
            + " store and take puts that were acknowledged, earlier ones too");
  }

  /**
   * May be more than what was asked for, where that costs nothing.
   *
   * @param strongest that the store's put mode can have
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
