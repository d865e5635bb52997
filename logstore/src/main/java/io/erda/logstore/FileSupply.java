package io.erda.logstore;

import io.erda.pmem.Creation;
import io.erda.pmem.Leftovers;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.UnaryOperator;

/**
 * Decides how many spare files there are, and whether a lease or the cleaner may take one. A spare
 * file is a file for a region to which no region is linked: it was made before it was needed, or
 * belonged to a region that was cleaned. One thread, the log's.
 *
 * <p>A file is reused only when the caller knows that no process can read or write it any more
 * ({@link #reuse}). Its bytes belong to an older generation, so no object in it is valid ({@link
 * ObjectChecksum#positionMix}).
 */
public final class FileSupply {
  /** A head whose newest region has less space left than this will soon need another region. */
  private static final long AHEAD_BYTES_MAX = 128L << 20;

  /**
   * A disk that has no room for this many files, or for {@link #SCARCE_BYTES}, may be full at any
   * time.
   */
  private static final int SCARCE_FILES = 4;

  private static final long SCARCE_BYTES = 1L << 30;

  /**
   * The most spare files that a log in use keeps: enough for continuous cleaning to reuse its own
   * files.
   */
  private static final int KEPT = 2;

  private final MemoryDirectory directory;
  private final LinkedRegions linked;
  private final Life life;
  private final Leftovers leftovers;
  private final RetiredFiles retired;
  private final long regionBytes;
  private final SpareFiles spares;

  /** Whether space was leased since the last {@link #trim} with {@code true}. */
  private boolean active;

  /** Whether no spare files are wanted, because no space was leased for a long time. */
  private boolean idle = true;

  /** Whether the disk is about to be full. */
  private boolean scarce;

  FileSupply(
      MemoryDirectory directory,
      LinkedRegions linked,
      Life life,
      Leftovers leftovers,
      RetiredFiles retired) {
    this.directory = directory;
    this.leftovers = leftovers;
    this.retired = retired;
    this.linked = linked;
    this.life = life;
    this.regionBytes = linked.geometry().regionBytes();
    this.spares = new SpareFiles(directory, leftovers, regionBytes);
  }

  /** Returns the number of spare files. */
  public int count() {
    return spares.count();
  }

  /** Whether a file is being made. */
  public boolean making() {
    return spares.making();
  }

  /** Returns how often a file could not be made. */
  public long failures() {
    return spares.failures();
  }

  /** Why the last file could not be made. */
  public String failure() {
    return spares.failure();
  }

  /** Returns in words why no file can be made at present; null when files can be made. */
  public String trouble() {
    return spares.trouble();
  }

  /**
   * Returns how many more regions can be linked, as far as that is known. When the disk had no room
   * for another file, this is not more than the number of spare files.
   */
  public int regionsAtHand() {
    return spares.failedLast()
        ? Math.min(spares.count(), linked.freeRegions())
        : linked.freeRegions();
  }

  /**
   * Whether another region can be linked to a head, with a spare file or a file for which there is
   * room.
   */
  public boolean canLink(int head) {
    return regionsAtHand() > 0 && linked.freeIndex(head) >= 0;
  }

  /**
   * Sets that leases do not wait for the making of a file. From now on files are made in steps, by
   * {@link #doWork}, and a lease that needs one gets {@link LeaseResult.NotReady}.
   *
   * @param over wraps each creation of a file, for example to run it in another thread
   */
  public void makeAhead(UnaryOperator<Creation> over) {
    spares.makeAhead(over);
  }

  /**
   * Does one step of making a file. Returns 0 when no file is being made.
   *
   * @throws UncheckedIOException when the directory fails for another reason than lack of space
   */
  public int doWork() {
    try {
      return spares.step();
    } catch (IOException e) {
      throw new UncheckedIOException("can't make a file for a region", e);
    }
  }

  /**
   * Begins to make a file if one is missing, for the cleaner or for a head that will soon need one.
   *
   * @param wanted whether a lease waits for a file
   */
  public void prepareAhead(boolean wanted) {
    if (spares.making() || spares.leavesFilesBehind()) {
      return;
    }
    boolean another =
        linked.freeRegions() > linked.reserved() && (wanted || (!idle && isLittleLeft()));
    if (spares.count() < Math.min(forCleaner() + (another ? 1 : 0), linked.freeRegions())) {
      try {
        spares.make();
      } catch (IOException e) {
        throw new UncheckedIOException("can't make a file for a region", e);
      }
    }
  }

  private boolean isLittleLeft() {
    long little = Math.min(AHEAD_BYTES_MAX, regionBytes / 2);
    for (int head = 0; head < linked.geometry().heads(); head++) {
      RegionState state = linked.newest(head);
      if (state != null && regionBytes - state.append < little) {
        return true;
      }
    }
    return false;
  }

  /** Finds out whether the disk is about to be full. Costs a system call. */
  public void lookAtDisk() {
    long little = Math.max(SCARCE_BYTES, SCARCE_FILES * regionBytes);
    long usable = directory.usableBytes();
    scarce = usable < little;
    if (usable >= regionBytes) {
      spares.mayHaveRoom();
    }
  }

  /**
   * Keeps the file of a retired region for a later one, if few are kept and another region can be
   * linked. The log then owns its memory again.
   *
   * <p>REQUIRES: no process can read or write the file any more, not even with an operation that
   * began before the region was retired. A late store would change an object of another region.
   *
   * @return false when the file is not wanted; then {@link #remove} it
   */
  public boolean reuse(Region region) {
    life.requireInUse();
    assert linked.state(region) == null || linked.state(region).region != region
        : linked.state(region) + " is not retired";
    int kept = forCleaner() + (idle ? 0 : KEPT);
    if (retired.isUnnamed(region) || spares.count() >= Math.min(kept, linked.freeRegions())) {
      return false;
    }
    spares.keep(new SpareFiles.Spare(SpareFiles.nameOfLeft(region.generation()), region.memory()));
    return true;
  }

  /** Tries again to remove or rename the files for which that failed. */
  public void removeAgain() {
    leftovers.again();
    retired.again();
  }

  /** Removes the file of a retired region. The caller closes its memory. */
  public void remove(Region region) {
    retired.remove(region);
  }

  /** Notes that a file could not be removed, which is tried again later. */
  void leave(String name) {
    leftovers.remove(name);
  }

  /**
   * Removes a spare file when there are too many: more than regions can be linked, or, while the
   * log is idle, more than the cleaner's. Returns the memory of the file, which the caller closes;
   * null when no file was removed.
   *
   * @param whenIdle whether to find out if the log is idle: no space was leased since the last call
   *     with {@code true}
   */
  public PersistentMemory trim(boolean whenIdle) {
    if (whenIdle) {
      idle = !active;
      active = false;
    }
    int kept = Math.min(idle ? forCleaner() : Integer.MAX_VALUE, linked.freeRegions());
    return spares.count() > kept ? spares.remove() : null;
  }

  /**
   * Notes that space was leased, so that the log is in use and files are made before they are
   * needed.
   */
  void leased() {
    active = true;
    idle = false;
  }

  /**
   * The number of spare files that leases leave to the cleaner. While the disk is about to be full,
   * leases leave a file for each region that is reserved for the cleaner, since only cleaning makes
   * room again. Otherwise the number is 0, as in a log without regions, which needs no cleaning
   * yet.
   */
  int forCleaner() {
    return (scarce || spares.failedLast()) && !linked.regions().isEmpty() ? linked.reserved() : 0;
  }

  /**
   * Makes sure that there are more spare files than {@code others}. Returns null when that worked,
   * else the refusal.
   *
   * @param others number of spare files that are not for the caller
   * @param mayMake whether to make a file, if there are too few
   */
  LeaseResult provide(int others, boolean mayMake) throws IOException {
    while (spares.count() <= others) {
      if (!mayMake || spares.leavesFilesBehind()) {
        return refusal();
      }
      long failures = spares.failures();
      spares.make();
      if (spares.failures() != failures) {
        return refusal();
      }
      if (spares.making()) {
        return new LeaseResult.NotReady();
      }
    }
    return null;
  }

  private LeaseResult refusal() {
    return spares.outOfSpace()
        ? new LeaseResult.DiskFull(spares.failure(), spares.ofFileSize())
        : new LeaseResult.NotNow(spares.failure());
  }

  /**
   * Handles that a spare file could not be given the name of a region and was removed. This counts
   * as a file that could not be made.
   */
  LeaseResult notNamed(IOException why) {
    try {
      spares.notNamed(why);
    } catch (IOException e) {
      throw new UncheckedIOException("can't give a file the name of a region", e);
    }
    return refusal();
  }

  /** Notes that a file that was taken has the name of a region now. */
  void named() {
    spares.named();
  }

  /** Takes a spare file, which the caller then owns. REQUIRES: {@link #provide} returned null. */
  SpareFiles.Spare take() {
    assert spares.count() > 0 : "provide() did not say that there is one";
    return spares.take();
  }

  /** Removes all spare files, including the one that is being made. */
  void removeAll() {
    spares.giveUp();
    for (PersistentMemory memory = spares.remove(); memory != null; memory = spares.remove()) {
      memory.close();
    }
  }

  /** Closes the memories of the spare files; the files keep their names. */
  void close() {
    spares.close();
  }
}
