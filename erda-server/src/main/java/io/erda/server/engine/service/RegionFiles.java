package io.erda.server.engine.service;

import io.erda.logstore.FileSupply;
import io.erda.logstore.LinkedRegions;
import io.erda.logstore.LogStore;
import io.erda.logstore.Region;
import io.erda.pmem.PersistentMemory;
import io.erda.server.engine.events.ServiceListener;
import io.erda.server.engine.store.StoreFailures;
import java.util.function.IntSupplier;

/**
 * The files of retired and of future regions. Files are made before they are needed, and given back
 * when they are not needed any more. Owns the departures. One thread; {@link FileWork} does the
 * slow work.
 */
final class RegionFiles implements AutoCloseable {
  /** Spare files are given back when no space was leased for this many nanoseconds. */
  private static final long SPARES_IDLE_NS = 10_000_000_000L;

  /**
   * After the making of a file failed, the server tries to make no further spare file for this many
   * nanoseconds.
   */
  private static final long PREPARE_AGAIN_NS = 1_000_000_000L;

  private static final long DISK_LOOK_NS = 1_000_000_000L;

  private final FileSupply supply;
  private final LinkedRegions linked;
  private final StoreFailures failures;
  private final ServiceListener told;
  private final Departures departures;
  private final IntSupplier making;
  private final FileWork worker;

  /** The number of failures before the last step of making a file. */
  private long failuresBefore;

  private long failuresSeen;

  /** Whether the listener was told that no file can be made. */
  private boolean toldTrouble;

  /** Whether removed files may still take disk space. */
  private boolean releasing;

  /** Whether disk space was freed that has not been used for a file yet. */
  private boolean spaceCame;

  private long nextPrepareNs;
  private long nextTrimNs;
  private long nextDiskLookNs;

  /**
   * @param worker does the slow work
   * @param told is called when no file can be made
   * @param strangers returns the number of strangers of all devices, see {@link
   *     io.erda.rdma.Device#strangers}
   */
  RegionFiles(
      LogStore log,
      StoreFailures failures,
      FileWork worker,
      ServiceListener told,
      IntSupplier strangers,
      long nowNs) {
    this.supply = log.files();
    this.linked = log.linked();
    this.failures = failures;
    this.worker = worker;
    this.told = told;
    this.departures = new Departures(supply, strangers, this::release);
    this.making = supply::doWork;
    this.nextPrepareNs = nowNs;
    this.nextDiskLookNs = nowNs;
    this.nextTrimNs = nowNs + SPARES_IDLE_NS;
    supply.makeAhead(worker::creating);
  }

  /** The retired regions. */
  Departures departures() {
    return departures;
  }

  /** Whether a file for another region is being made. */
  boolean making() {
    return supply.making();
  }

  /** Whether a file is being made, or a file or disk space for one will be freed. */
  boolean comes() {
    return supply.making() || departures.waiting() > 0 || releasing || spaceCame;
  }

  /** Does one step of making a file. */
  int make() {
    failuresBefore = supply.failures();
    return failures.step(making);
  }

  /** Begins to make another file for a waiting request, unless the last one failed. */
  void makeAnother() {
    if (!failures.any() && supply.failures() == failuresBefore) {
      failures.attempt(() -> supply.prepareAhead(true));
    }
  }

  /**
   * Maintains all files, at a low rate.
   *
   * @param waitedFor whether a request waits for space
   */
  void tend(long nowNs, boolean waitedFor) {
    if (!failures.any()) {
      failures.attempt(() -> doTend(nowNs, waitedFor));
    }
  }

  private void doTend(long nowNs, boolean waitedFor) {
    departures.doWork(nowNs);
    if (supply.failures() != failuresSeen) {
      failuresSeen = supply.failures();
      nextPrepareNs = nowNs + PREPARE_AGAIN_NS;
    }
    tellTrouble();
    boolean stillReleasing = releasing && worker.releasing();
    spaceCame |= releasing && !stillReleasing;
    releasing = stillReleasing;
    if (spaceCame && !supply.making()) {
      spaceCame = false;
      nextPrepareNs = nowNs;
    }
    if (nowNs - nextDiskLookNs >= 0) {
      nextDiskLookNs = nowNs + DISK_LOOK_NS;
      supply.lookAtDisk();
      supply.removeAgain();
    }
    if (nowNs - nextPrepareNs >= 0) {
      nextPrepareNs = nowNs;
      supply.prepareAhead(waitedFor);
    }
    boolean idle = nowNs - nextTrimNs >= 0;
    if (idle) {
      nextTrimNs = nowNs + SPARES_IDLE_NS;
    }
    if (!waitedFor) {
      trimSpares(idle);
    }
  }

  private void tellTrouble() {
    String trouble = supply.trouble();
    if (trouble != null && !toldTrouble) {
      toldTrouble = true;
      told.noFile(trouble);
    } else if (trouble == null && toldTrouble) {
      toldTrouble = false;
      told.fileAgain();
    }
  }

  private void trimSpares(boolean whenIdle) {
    for (PersistentMemory spare = supply.trim(whenIdle);
        spare != null;
        spare = supply.trim(false)) {
      release(spare);
    }
  }

  private void release(PersistentMemory memory) {
    worker.release(memory);
    releasing = true;
  }

  /** Passes on the place where each head appends, so that the pages ahead of it are prepared. */
  void tellAppends() {
    for (int head = 0; head < linked.geometry().heads(); head++) {
      Region region = linked.appendRegion(head);
      if (region != null) {
        worker.appending(head, region.memory(), linked.appendPlace(head));
      }
    }
  }

  @Override
  public void close() {
    departures.close();
  }
}
