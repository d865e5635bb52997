package io.erda.server.engine.service;

import io.erda.cleaner.LiveBytes;
import io.erda.client.connections.LocalPublisher;
import io.erda.hashtable.KeyProbe;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.pmem.FailedStoreException;
import io.erda.pmem.MemoryGuard;
import io.erda.protocol.Message;
import io.erda.server.engine.publishing.Reservation;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreFailures;
import io.erda.server.engine.store.StoreWriter;
import io.erda.server.engine.tables.PutCounts;
import io.erda.server.engine.tables.Tables;
import java.util.ArrayList;
import java.util.List;

/**
 * Commits the puts and deletes of one client of this process whose keys have an entry, in the
 * client's thread, while other committers do the same. A step of the server and a committer exclude
 * each other. So a committer sees a table in which nothing changes but words that other committers
 * replace, by compare-and-swap as it does itself, and regions that stay where they are ({@code
 * docs/decisions/2026-11-28-commits-by-holders.md}).
 *
 * <p>It declines whatever else there is to be done, and changes nothing then.
 *
 * <p>What the server has to know of the committed objects is kept here until {@link #tell}. One
 * thread at a time calls {@link #commit}; {@code tell} belongs to a step of the server.
 */
public final class Committer implements KeyProbe {
  /** How many swaps are tried when other committers replace the same word. */
  private static final int SWAPS_MAX = 8;

  private static final MemoryGuard.Access<Committer, LocalPublisher.Built> COMMIT =
      (committer, object, _, _, _, _) -> {
        committer.commitFound(object);
        return 0;
      };

  private final StoreEngine engine;
  private final LogStore log;
  private final LogGeometry geometry;
  private final Tables tables;
  private final LiveBytes live;
  private final PutCounts counts;
  private final StoreFailures failures;
  private final RequestDispatch requests;
  private final Answers answers;
  private final MemoryGuard faults = new MemoryGuard();

  // The commit under way.

  private Reservation reservation;
  private LocalPublisher.Built sought;

  /** The word of the entry that was found; 0 when it can't be replaced here. */
  private long foundWord;

  private int outcome;

  // The commits that the server was not told of yet.

  private long puts;
  private long deletes;
  private long paddedBytes;

  /** Changes of live bytes, by the region's slot. */
  private final long[] changes;

  /** The slots of regions whose live bytes have changed, in the order of the first change. */
  private final int[] changed;

  private int changedCount;
  private final boolean[] isChanged;

  /** The reservations of the objects, at most two for each head: a third needs a step. */
  private final List<Reservation> used;

  private final Runnable settling = this::settle;

  private Committer(
      StoreEngine engine,
      StoreWriter writer,
      StoreFailures failures,
      RequestDispatch requests,
      Answers answers) {
    this.log = engine.log();
    this.geometry = log.geometry();
    this.tables = engine.tables();
    this.live = writer.live();
    this.counts = writer.puts();
    this.failures = failures;
    this.requests = requests;
    this.answers = answers;
    this.changes = new long[geometry.slots()];
    this.isChanged = new boolean[geometry.slots()];
    this.changed = new int[geometry.slots()];
    this.used = new ArrayList<>(2 * geometry.heads());
    this.engine = engine;
  }

  /** Whether this commits to the store of an engine. */
  boolean isOf(StoreEngine other) {
    return engine == other;
  }

  /**
   * Returns a committer for one client; null when each put needs the server: it is announced first,
   * or visible data may still be lost, or waits for a device.
   */
  static Committer of(
      StoreEngine engine,
      StoreWriter writer,
      Publishing publishing,
      StoreFailures failures,
      RequestDispatch requests,
      Answers answers) {
    return writer.announced() != null || engine.pending().pendingFirst() || !publishing.isAtOnce()
        ? null
        : new Committer(engine, writer, failures, requests, answers);
  }

  /**
   * Commits an object at a place of one of the client's reservations.
   *
   * @return {@link LocalPublisher#REPLACED} or {@link LocalPublisher#DONE}; {@link
   *     LocalPublisher#LATER} when it declines
   */
  int commit(Connection connection, LocalPublisher.Built object) {
    if (failures.any()) {
      return LocalPublisher.LATER;
    }
    reservation = connection.reservations.get(object.reservation);
    if (reservation == null) {
      return LocalPublisher.LATER;
    }
    long before = reservation.nextPlace;
    outcome = LocalPublisher.LATER;
    try {
      // The outcome is a field, because it is valid even if a fault surfaces behind the swap.
      faults.access(COMMIT, this, object, 0, 0, 0, 0);
    } catch (FailedStoreException e) {
      // Nothing was swapped. The server meets the failure when it is asked to do this put.
      outcome = LocalPublisher.LATER;
    }
    if (outcome == LocalPublisher.LATER) {
      reservation.nextPlace = before;
    }
    return outcome;
  }

  private void commitFound(LocalPublisher.Built object) {
    sought = object;
    foundWord = 0;
    long entry = tables.find(object.keyWord, this);
    long word = foundWord;
    if (entry == Tables.NONE
        || word == 0
        || !reservation.take(geometry, object.head, object.offset, object.bytes)) {
      return;
    }
    Region region = reservation.extent.region();
    long place = geometry.place(object.offset);
    region.memory().put(place, object.memory, 0, ObjectLayout.padded(object.bytes));
    region.memory().flush(place, object.bytes);
    region.memory().drain();
    for (int tries = 0; tries < SWAPS_MAX && isReplaceable(word); tries++) {
      int replaced = VersionWord.committed(word);
      Region replacedIn = log.region(object.head, replaced);
      if (replacedIn == null) {
        return;
      }
      long replacedBytes = live.bytesAt(replacedIn, replaced);
      boolean existed = replacedBytes != 0;
      if (object.delete && !existed) {
        return;
      }
      // The word depends on what was loaded so far.
      faults.surface();
      if (tables.swapWord(entry, word, VersionWord.update(word, object.offset, false))) {
        note(object);
        if (live.counts(entry)) {
          change(replacedIn, -replacedBytes);
          change(region, object.delete ? 0 : ObjectLayout.padded(object.bytes));
        }
        outcome = existed ? LocalPublisher.REPLACED : LocalPublisher.DONE;
        return;
      }
      word = tables.versionWord(entry);
    }
  }

  private static boolean isReplaceable(long word) {
    return !VersionWord.pending(word) && VersionWord.committed(word) != VersionWord.NONE;
  }

  /**
   * Takes the first entry with the key word. If that entry has another key, or an object that can't
   * be compared, the commit is declined.
   */
  @Override
  public boolean matches(long slot, long word) {
    int offset = VersionWord.committed(word);
    Region region = isReplaceable(word) ? log.region(sought.head, offset) : null;
    if (region != null
        && ObjectLayout.bytes(sought.keyLength, 0) <= geometry.room(geometry.place(offset))
        && ObjectLayout.keyEquals(
            region.memory().segment(),
            geometry.place(offset),
            sought.memory,
            ObjectLayout.KEY_OFFSET,
            sought.keyLength)) {
      foundWord = word;
    }
    return true;
  }

  private void note(LocalPublisher.Built object) {
    if (object.delete) {
      deletes++;
    } else {
      puts++;
    }
    paddedBytes += ObjectLayout.padded(object.bytes);
    if (reservation.committedTo == 0) {
      used.add(reservation);
    }
    reservation.committedTo = reservation.nextPlace;
  }

  private void change(Region region, long by) {
    int slot = region.slot();
    if (!isChanged[slot]) {
      changed[changedCount++] = slot;
      isChanged[slot] = true;
    }
    changes[slot] += by;
  }

  /**
   * Tells the server what was committed since the last time. Before a step does anything else: a
   * step may end reservations, and use a region's slot for another region.
   */
  void tell() {
    if (puts + deletes == 0) {
      return;
    }
    for (int i = 0; i < changedCount; i++) {
      int slot = changed[i];
      live.change(slot, changes[slot]);
      changes[slot] = 0;
      isChanged[slot] = false;
    }
    changedCount = 0;
    counts.addShared(puts, deletes, paddedBytes);
    requests.publishedNow(puts + deletes);
    answers.done(0, puts);
    answers.done(Message.FLAG_DELETE, deletes);
    puts = 0;
    deletes = 0;
    paddedBytes = 0;
    // This stores to a file. Where that fails, the reservations stay open, as in any step.
    if (!failures.any()) {
      failures.attempt(settling);
    }
    used.clear();
  }

  private void settle() {
    for (int i = 0; i < used.size(); i++) {
      Reservation each = used.get(i);
      log.settle(each.extent, each.committedTo);
      each.committedTo = 0;
    }
  }
}
