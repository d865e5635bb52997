package io.erda.client.connections;

import io.erda.hashtable.Entry;
import io.erda.hashtable.Neighbourhood;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectLayout;
import io.erda.pmem.MappedFault;
import io.erda.pmem.MemoryGuard;
import io.erda.pmem.PageCopy;
import io.erda.protocol.Commits;
import io.erda.protocol.Root;
import io.erda.rdma.QueuePair;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.function.IntConsumer;

/**
 * Commits updates and deletes of keys that have a value in the mapped table of a server of another
 * process, between two steps of that server (protocol's {@code FORMAT.md}, "Commits"). Belongs to
 * one connection, whose device READs and WRITEs by loads and stores.
 *
 * <p>A commit is declined whenever anything is not as usual. Then it has changed nothing but bytes
 * of the client's own lease, and the client WRITEs the object to the same place and publishes it by
 * a message.
 */
final class CommitLine implements LocalPublisher.Line {
  // Points of a commit at which a simulation or a test may stop the client.

  static final int FOUND = 0;
  static final int COPIED = 1;
  static final int STANDS = 2;
  static final int SEEN = 3;
  static final int SWAPPED = 4;
  static final int TOLD = 5;

  /** How many swaps are tried when other clients replace the same word. */
  private static final int SWAPS_MAX = 8;

  /**
   * The swaps whose page the kernel first makes writable. The interpreter's compare-and-swap ends
   * the process where memory is missing; a compiled one is passed over like a store.
   */
  private static final int SWAPS_CHECKED =
      System.getProperty("java.vm.info", "").contains("interpreted") ? Integer.MAX_VALUE : 50_000;

  /** How many times a client looks at the turn before it leaves the commit to the server. */
  private static final int TURN_SPINS = 200;

  /**
   * And how many times it leaves its core to the server, which may have been preempted in its step
   * when it woke this client.
   */
  private static final int TURN_YIELDS = 16;

  /** The most puts in a row that are left to the server, after others were declined. */
  private static final int UNTRIED_MAX = 15;

  private static final VarHandle WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private final Session session;
  private final QueuePair queuePair;
  private final LogGeometry geometry;
  private final long commitsKey;
  private final long line;
  private final MemoryGuard faults = new MemoryGuard();

  /** Where the reservation of each head's lease was found last in the line. */
  private final int[] leases;

  // These fields are valid while the turn has the number of the first.

  private long knownTurn = 1;
  private RegionMap map;
  private long table;
  private MemorySegment tableMemory;

  /** Called with a number at points of each commit. */
  private IntConsumer stops;

  private int swapsChecked;
  private MemorySegment commits;
  private long serial;
  private boolean stands;
  private int outcome;
  private boolean tried;

  /** How many commits in a row were declined by what they found. */
  private int vain;

  /** How many of the next puts are left to the server. */
  private int untried;

  /**
   * @param commitsKey and {@code number} are those of the welcome
   */
  CommitLine(Session session, long commitsKey, int number) {
    this.session = session;
    this.queuePair = session.queuePair;
    this.geometry = session.geometry;
    this.commitsKey = commitsKey;
    this.line = Commits.line(number);
    this.leases = new int[geometry.heads()];
    this.stops = queuePair.between();
  }

  @Override
  public boolean isFree() {
    return commits != null && untried == 0;
  }

  @Override
  public int publish(LocalPublisher.Built object) {
    if (untried > 0) {
      untried--;
      return LocalPublisher.LATER;
    }
    if (stands) {
      // An Error, such as that of a full stack, has ended the commit before.
      afterFault();
    }
    outcome = LocalPublisher.LATER;
    tried = false;
    // The outcome is a field, because it is valid even if a fault surfaces behind it. The commit is
    // not called through a guard, because the JVM would inline one call less.
    try {
      commit(object);
      faults.surface();
    } catch (InternalError e) {
      faults.take(e);
      afterFault();
    }
    if (outcome == LocalPublisher.LATER && tried) {
      vain = Math.min(vain + 1, UNTRIED_MAX);
      untried = vain - 1;
    } else if (outcome != LocalPublisher.LATER) {
      vain = 0;
    }
    return outcome;
  }

  /** The server meets the fault, too, or the client by its WRITE, and says what it is. */
  private void afterFault() {
    knownTurn = 1;
    untried = UNTRIED_MAX;
    if (stands) {
      stands = false;
      if (!faults.attempt(this, on -> Commits.clear(on.commits, on.line))) {
        commits = null;
      }
    }
  }

  private void commit(LocalPublisher.Built object) {
    long turn = evenTurn();
    if (Commits.isOdd(turn) || (turn != knownTurn || map != session.map) && !knows(turn)) {
      return;
    }
    int head = object.head;
    long base = map.entriesOffset + Entry.bucket(object.keyWord, map.buckets) * Entry.BYTES;
    int entry = Neighbourhood.nextMatch(tableMemory, base, object.keyWord, 0);
    tried = true;
    if (entry < 0) {
      return;
    }
    long at = base + (long) entry * Entry.BYTES + Entry.VERSION_WORD_OFFSET;
    long word = (long) WORD.getAcquire(tableMemory, at);
    MemorySegment old = replaced(head, word);
    MemorySegment into =
        queuePair.memory(map.remoteKey(head, geometry.regionIndex(object.offset)), true);
    int lease = lease(head, object.reservation);
    if (old == null || into == null || lease < 0) {
      return;
    }
    // The old object's first line is on its way while the new object is copied.
    long oldPlace = geometry.place(VersionWord.newest(word));
    long ahead = ObjectLayout.firstWord(old, oldPlace);
    long place = geometry.place(object.offset);
    int padded = ObjectLayout.padded(object.bytes);
    stops.accept(FOUND);
    PageCopy.copy(object.memory, 0, into, place, padded);
    if (ObjectLayout.tombstone(ahead) && object.delete
        || ObjectLayout.bytes(object.keyLength, 0) > geometry.room(oldPlace)
        || !ObjectLayout.keyEquals(
            old, oldPlace, object.memory, ObjectLayout.KEY_OFFSET, object.keyLength)) {
      return;
    }
    stops.accept(COPIED);
    faults.surface();
    long slot = (at - map.entriesOffset) / Entry.BYTES;
    for (int tries = 0; tries < SWAPS_MAX; tries++) {
      long replacedBytes = bytesAt(old, oldPlace);
      if (object.delete && replacedBytes == 0) {
        return;
      }
      int ofOld = sum(head, geometry.regionIndex(VersionWord.newest(word)));
      int ofNew = sum(head, geometry.regionIndex(object.offset));
      if (ofOld < 0 || ofNew < 0) {
        tried = false;
        return;
      }
      if (swapsChecked < SWAPS_CHECKED && !isStorable(at)) {
        return;
      }
      if (!stand(turn, object, slot, word)) {
        tried = false;
        return;
      }
      stops.accept(SEEN);
      // Where the record could not be stored, there is no swap.
      faults.surface();
      boolean swapped =
          WORD.compareAndSet(tableMemory, at, word, VersionWord.update(word, object.offset, false));
      // Compiled code takes a swap that was passed over, because its page has no room, for one that
      // was made. A fault that surfaces here is the swap's, and one behind it is not.
      faults.surface();
      if (swapped) {
        outcome = replacedBytes == 0 ? LocalPublisher.DONE : LocalPublisher.REPLACED;
        stops.accept(SWAPPED);
        tell(object, padded, lease, place + padded, ofOld, replacedBytes, ofNew);
      }
      Commits.clear(commits, line);
      stands = false;
      if (swapped) {
        return;
      }
      // Between two steps only other clients change the word, and the key stays.
      word = (long) WORD.getAcquire(tableMemory, at);
      old = replaced(head, word);
      if (old == null) {
        return;
      }
      oldPlace = geometry.place(VersionWord.newest(word));
    }
  }

  private boolean stand(long turn, LocalPublisher.Built object, long slot, long word) {
    stands = true;
    long seen =
        Commits.stand(commits, line, ++serial, object.keyWord, slot, table, word, object.offset);
    stops.accept(STANDS);
    if (seen == turn) {
      return true;
    }
    Commits.clear(commits, line);
    stands = false;
    return false;
  }

  private boolean isStorable(long at) {
    swapsChecked++;
    return MappedFault.look(tableMemory, at, Long.BYTES) != MappedFault.Page.LOST;
  }

  /** Adds what was done to the sums that the server takes note of. */
  private void tell(
      LocalPublisher.Built object,
      int padded,
      int lease,
      long committedTo,
      int ofOld,
      long replacedBytes,
      int ofNew) {
    Commits.add(commits, Commits.sum(line, ofOld) + Commits.SECOND, -replacedBytes);
    Commits.add(commits, Commits.sum(line, ofNew) + Commits.SECOND, object.delete ? 0 : padded);
    Commits.store(commits, Commits.lease(line, lease) + Commits.SECOND, committedTo);
    Commits.add(commits, line + Commits.PUT_BYTES, padded);
    Commits.add(commits, line + (object.delete ? Commits.DELETES : Commits.PUTS), 1);
    stops.accept(TOLD);
  }

  /** The number of the turn; odd when a step of the server takes longer than a moment. */
  private long evenTurn() {
    if (commits == null) {
      commits = queuePair.memory(commitsKey, true);
      if (commits == null || !Commits.isValid(commits)) {
        commits = null;
        untried = UNTRIED_MAX;
        return 1;
      }
    }
    long turn = Commits.load(commits, Commits.TURN_OFFSET);
    for (int i = 0; i < TURN_SPINS + TURN_YIELDS && Commits.isOdd(turn); i++) {
      if (i < TURN_SPINS) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
      turn = Commits.load(commits, Commits.TURN_OFFSET);
    }
    return turn;
  }

  /**
   * Learns of the table while the turn has a number. Returns false when the client can't commit, or
   * needs a newer map.
   */
  private boolean knows(long turn) {
    knownTurn = 1;
    map = session.map;
    if (map == null || map.nextTableKey != RegionMap.NONE) {
      return false;
    }
    MemorySegment root = queuePair.memory(session.rootKey, false);
    if (root == null
        || Root.incarnation(root, 0) != map.incarnation
        || Root.epoch(root, 0) != map.epoch) {
      session.refreshMap();
      return false;
    }
    table = Commits.load(commits, Commits.TABLE_OFFSET);
    tableMemory = queuePair.memory(map.tableKey, true);
    if (table == 0 || tableMemory == null) {
      return false;
    }
    knownTurn = turn;
    return true;
  }

  /** The region with the object that a word names; null when the word can't be replaced here. */
  private MemorySegment replaced(int head, long word) {
    int newest = VersionWord.newest(word);
    return VersionWord.pending(word)
            || newest == VersionWord.NONE
            || geometry.room(geometry.place(newest)) < ObjectLayout.BYTES_MIN
        ? null
        : queuePair.memory(map.remoteKey(head, geometry.regionIndex(newest)), false);
  }

  /** How many live bytes the object at a place has; 0 for a tombstone. */
  private long bytesAt(MemorySegment region, long place) {
    if (ObjectLayout.tombstone(region, place)) {
      return 0;
    }
    int length =
        ObjectLayout.bytes(
            ObjectLayout.keyLength(region, place), ObjectLayout.valueLength(region, place));
    return Math.min(ObjectLayout.padded(length), geometry.room(place));
  }

  /** The lease of a reservation in the line; −1 when there is none, as when it has ended. */
  private int lease(int head, long reservation) {
    if (Commits.load(commits, Commits.lease(line, leases[head])) == reservation) {
      return leases[head];
    }
    for (int i = 0; i < Commits.LEASES; i++) {
      if (Commits.load(commits, Commits.lease(line, i)) == reservation) {
        leases[head] = i;
        return i;
      }
    }
    return -1;
  }

  /** The sum of a region in the line; −1 when all are in use, until the next step of the server. */
  private int sum(int head, int index) {
    long region = Commits.region(head, index);
    int first = (head * 31 + index) & Commits.SUMS - 1;
    for (int i = 0; i < Commits.SUMS; i++) {
      int number = first + i & Commits.SUMS - 1;
      long found = Commits.load(commits, Commits.sum(line, number));
      if (found == region) {
        return number;
      }
      if (found == 0) {
        Commits.store(commits, Commits.sum(line, number), region);
        return number;
      }
    }
    return -1;
  }

  @Override
  public String failure() {
    throw new IllegalStateException("a commit has failed");
  }

  @Override
  public Throwable cause() {
    return null;
  }
}
