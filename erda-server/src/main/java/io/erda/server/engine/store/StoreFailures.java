package io.erda.server.engine.store;

import io.erda.hashtable.DamagedTableException;
import io.erda.pmem.Backing;
import io.erda.pmem.FileErrors;
import io.erda.pmem.MappedFault;
import io.erda.pmem.MemoryFault;
import io.erda.pmem.MemoryGuard;
import io.erda.pmem.NoRoomToStoreException;
import io.erda.pmem.OutOfSpaceException;
import io.erda.protocol.Result;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * What failed of a store's files, and the work that may fail. What was written may not be durable,
 * or a file is not what it was, so the store takes no more puts and deletes: nothing more is
 * acknowledged until somebody has looked and the store was opened again. Reads go on. One thread.
 *
 * <p>Work on the files is done through here, so that one place says what a failure is. {@link
 * UncheckedIOException} is one, and so is a word of the table that nobody ever stored, and a {@link
 * MemoryFault}: a file of the store was shortened, or a page of it can't be read. Any other error
 * is thrown on, and ends the server.
 *
 * <p>A store that found no room ({@link NoRoomToStoreException}) is a failure that ends: until
 * there is room, requests that change something are refused as on a full disk.
 */
public final class StoreFailures {
  private final StoreEngine engine;
  private final MemoryGuard faults = new MemoryGuard();
  private Consumer<String> listener = reason -> {};
  private Consumer<String> fullListener = reason -> {};
  private String reason;

  /** The store that found no room, where that is all that failed; else null. */
  private NoRoomToStoreException full;

  public StoreFailures(StoreEngine engine) {
    this.engine = engine;
  }

  /** Does work on the store's files. Returns false when it failed. */
  public boolean attempt(Runnable work) {
    try {
      if (faults.attempt(work, Runnable::run)) {
        return true;
      }
      becauseOf(faults.fault());
    } catch (UncheckedIOException | DamagedTableException e) {
      becauseOf(e);
    }
    return false;
  }

  /** As {@link #attempt}, with how much was done; 0 when it failed. */
  public int step(IntSupplier work) {
    try {
      int done = faults.step(work, IntSupplier::getAsInt);
      if (done != MemoryGuard.FAULT) {
        return done;
      }
      becauseOf(faults.fault());
    } catch (UncheckedIOException | DamagedTableException e) {
      becauseOf(e);
    }
    return 0;
  }

  /** As {@link #attempt}, with what came of it; null when it failed. */
  public <T> T result(Supplier<T> work) {
    try {
      T result = faults.find(work, Supplier::get);
      if (faults.fault() == null) {
        return result;
      }
      becauseOf(faults.fault());
    } catch (UncheckedIOException | DamagedTableException e) {
      becauseOf(e);
    }
    return null;
  }

  /** Sets who is told the reason, once; of a store that found no room it is not. */
  public void onReadOnly(Consumer<String> told) {
    listener = told;
    if (reason != null && full == null) {
      told.accept(reason);
    }
  }

  /** Sets who is told, once, that a store found no room. */
  public void onFull(Consumer<String> told) {
    fullListener = told;
  }

  /** The result of a request that would change something, after anything failed. */
  public int refusal() {
    return full == null ? Result.READ_ONLY : Result.DISK_FULL;
  }

  /** Whether a store found no room, and nothing else failed. */
  public boolean isFull() {
    return full != null;
  }

  /** Whether what was full has room again: the store can be opened again, as after a kill. */
  public boolean hasRoomAgain() {
    return full != null && full.isOver();
  }

  /** Whether anything failed: the store takes no more puts and deletes. */
  public boolean any() {
    return reason != null;
  }

  /** Null while the store takes puts. */
  public String reason() {
    return reason;
  }

  /** The work on the store's files ended with this: the first reason counts. */
  public void becauseOf(Throwable failure) {
    if (failure instanceof NoRoomToStoreException e) {
      becomeFull(e);
      return;
    }
    if (failure instanceof UncheckedIOException e
        && e.getCause() instanceof OutOfSpaceException full) {
      // A name can want room too.
      becomeFull(
          new NoRoomToStoreException(
              new OutOfSpaceException(FileErrors.inWords(e), full), this::hasRoom));
      return;
    }
    String why =
        switch (failure) {
          case UncheckedIOException e -> failedFile(e);
          case DamagedTableException e -> damagedTable(e);
          case MemoryFault e -> lostMemory(e);
          case RuntimeException e -> throw e;
          case Error e -> throw e;
          default -> throw new IllegalStateException(failure);
        };
    because(why);
  }

  /**
   * The store's files are sound, and are not found any more by whoever looks for the store: nothing
   * more is acknowledged that nobody finds later.
   *
   * @param why in words for a user
   */
  public void because(String why) {
    if (reason == null || full != null) {
      full = null;
      reason = why;
      listener.accept(why);
    }
  }

  private boolean hasRoom() {
    Backing root = engine.root().memory().backing();
    return root.file() == null
        || MappedFault.hasRoom(
            root.file(),
            root.directory() == null
                ? root.file().toAbsolutePath().getParent()
                : root.directory().at("."));
  }

  /**
   * Work on the store was cut off where a store found no room, which a kill there would have done
   * too. So nothing is stored from now on until there is room, and it is opened again.
   */
  private void becomeFull(NoRoomToStoreException e) {
    engine.abandon();
    if (reason == null) {
      full = e;
      reason = e.getMessage();
      fullListener.accept(reason);
    }
  }

  /**
   * What it should have made durable may be lost, whatever a later drain says, and work on the
   * store was cut off in the middle.
   */
  private String failedFile(UncheckedIOException e) {
    engine.becomeFailed();
    return FileErrors.inWords(e);
  }

  /** The table is in no state that the store ever gave it, so there is no clean stop to record. */
  private String damagedTable(DamagedTableException e) {
    engine.abandon();
    return "the hash table was damaged while it was in use: " + e.getMessage();
  }

  /** Whether a file of the store was shortened. */
  public boolean isAnyShortened() {
    return shortened() != null;
  }

  /** A file of the store that is shorter than it was, in words; null when there is none. */
  private String shortened() {
    for (Backing file : engine.files()) {
      long bytes = length(file);
      if (bytes < file.offset() + file.length()) {
        return "%s was shortened while it was in use: it has %d of %d bytes"
            .formatted(file.file(), bytes, file.offset() + file.length());
      }
    }
    return null;
  }

  /** Work on the store was cut off in the middle, wherever that was. */
  private String lostMemory(MemoryFault e) {
    engine.abandon();
    String shortened = shortened();
    if (shortened != null) {
      return shortened;
    }
    return "a page of a file of the store, below "
        + engine.files().getFirst().file().toAbsolutePath().getParent()
        + ", can't be read (SIGBUS: "
        + e.getMessage()
        + ")";
  }

  private static long length(Backing file) {
    try {
      return file.file() == null ? Long.MAX_VALUE : file.fileBytes();
    } catch (IOException e) {
      // A file without a name has the length that it had.
      return Long.MAX_VALUE;
    }
  }
}
