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
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * Runs work on a store's files, and remembers the first failure. After it, written data may not be
 * durable, or a file is damaged, so the store takes no more puts and deletes until it is opened
 * again. Reads go on. One thread.
 *
 * <p>All work on the files runs through this class, which decides which exceptions are failures: an
 * {@link UncheckedIOException}; a word of the table that the store never stores; and a {@link
 * MemoryFault}, when a file of the store was shortened, or a page of it can't be read. Any other
 * error is rethrown, and ends the server.
 *
 * <p>A lack of room ({@link NoRoomToStoreException}) is a temporary failure: until there is room,
 * requests that change the store are refused as on a full disk.
 */
public final class StoreFailures {
  /** Receives the reason why the store takes no more puts and deletes, in the server's thread. */
  public interface Listener {
    /** Ignores everything. */
    Listener NONE = new Listener() {};

    /** The store's files failed. Called once; not for a lack of room. */
    default void readOnly(String why) {}

    /** There is no room for what is to be stored. Called once. */
    default void full(String why) {}
  }

  private final StoreEngine engine;
  private final List<Backing> besides = new ArrayList<>();
  private final MemoryGuard faults = new MemoryGuard();
  private final Listener listener;
  private String reason;

  /** The lack of room, if it is the only failure; otherwise null. */
  private NoRoomToStoreException full;

  public StoreFailures(StoreEngine engine, Listener listener) {
    this.engine = engine;
    this.listener = listener;
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

  /** As {@link #attempt}, returning how much was done; 0 when it failed. */
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

  /** As {@link #attempt}, returning the result; null when it failed. */
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

  /** Returns the result for requests that change the store after a failure. */
  public int refusal() {
    return full == null ? Result.READ_ONLY : Result.DISK_FULL;
  }

  /** Whether the only failure is a lack of room. */
  public boolean isFull() {
    return full != null;
  }

  /**
   * Whether the full file system has room again, so that the store can be opened again, as after a
   * kill.
   */
  public boolean hasRoomAgain() {
    // Another thread may take a step meanwhile, and find another reason.
    NoRoomToStoreException found = full;
    return found != null && found.isOver();
  }

  /** Whether there was a failure, so that the store takes no more puts and deletes. */
  public boolean any() {
    return reason != null;
  }

  /** Returns the reason why the store takes no more puts; null while it takes puts. */
  public String reason() {
    return reason;
  }

  /** Notes the failure that ended work on the store's files. The first one is kept. */
  public void becauseOf(Throwable failure) {
    if (failure instanceof NoRoomToStoreException e) {
      becomeFull(e);
      return;
    }
    if (failure instanceof UncheckedIOException e
        && e.getCause() instanceof OutOfSpaceException full) {
      // Giving a file a name can need room in the file system, too.
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
   * Makes the store read-only because its files, which are sound, are no longer found by their
   * path. A later opening would not find puts that are acknowledged from now on.
   *
   * @param why the reason, in words for a user
   */
  public void because(String why) {
    if (reason == null || full != null) {
      full = null;
      reason = why;
      listener.readOnly(why);
    }
  }

  /**
   * Makes the store read-only because the device did not take what was stored in one of its files.
   *
   * @param why the reason, in words for a user
   */
  public void becauseUnwritten(String why) {
    engine.becomeFailed();
    because(why);
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
   * Notes that a lack of room cut work on the store short, as a kill could have done. From now on
   * nothing is stored. When there is room the store is opened again.
   */
  private void becomeFull(NoRoomToStoreException e) {
    engine.abandon();
    if (reason == null) {
      full = e;
      reason = e.getMessage();
      listener.full(reason);
    }
  }

  /**
   * Handles the failure of a file. Data that the work should have made durable may be lost, even if
   * a later drain succeeds, and the work was cut short.
   */
  private String failedFile(UncheckedIOException e) {
    engine.becomeFailed();
    return FileErrors.inWords(e);
  }

  /**
   * Handles a table in a state that the store never produces. No record of a clean stop is written
   * for it.
   */
  private String damagedTable(DamagedTableException e) {
    engine.abandon();
    return "the hash table was damaged while it was in use: " + e.getMessage();
  }

  /** Adds a file that is looked at, besides those of the store, when memory is missing. */
  public void lookAt(Backing file) {
    besides.add(file);
  }

  /** Whether a file of the store was shortened. */
  public boolean isAnyShortened() {
    return shortened() != null;
  }

  /** A description of a file of the store that was shortened; null when there is none. */
  private String shortened() {
    List<Backing> files = new ArrayList<>(engine.files());
    files.addAll(besides);
    for (Backing file : files) {
      long bytes = length(file);
      if (bytes < file.offset() + file.length()) {
        return "%s was shortened while it was in use: it has %d of %d bytes"
            .formatted(file.file(), bytes, file.offset() + file.length());
      }
    }
    return null;
  }

  /** Handles a memory fault, which may have cut work on the store short at any point. */
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
      // The file has no name any more, so nobody can have shortened it by its name.
      return Long.MAX_VALUE;
    }
  }
}
