package io.erda.client.iteration;

import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Connections;
import io.erda.client.connections.Counts;
import io.erda.client.connections.RegionMap;
import io.erda.client.connections.WorkId;
import io.erda.client.gets.ObjectPlace;
import io.erda.client.gets.PendingVersions;
import io.erda.client.gets.ReadOperation;
import io.erda.client.operations.Outcomes;
import io.erda.client.operations.Step;
import io.erda.hashtable.Entry;
import io.erda.hashtable.Neighbourhood;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.ObjectLayout;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Root;
import io.erda.rdma.Work;
import java.lang.foreign.ValueLayout;

/**
 * The look-up of a single key word by an iteration: READs its neighbourhood and the root, then the
 * object of each match, and finds the next key that {@link KeyWordGroup} does not have. When puts
 * are announced first and a word is pending, the result is confirmed as that of a get: {@link
 * PendingVersions}.
 */
abstract class KeyWordLookUp extends ReadOperation {

  /** Look-ups that are repeated at once while entries move; further ones pause. */
  private static final int MOVING_AT_ONCE_MAX = 64;

  private static final long PAUSE_NS_MIN = 1000;
  private static final int PAUSE_SHIFT_MAX = 10;

  final ScanCopy copy;
  final Counts counts;
  final KeyWordGroup group = new KeyWordGroup();
  private final Work readEntries = Work.read();

  /** The READ that is awaited: the root after the entries, or the object. */
  private final Work readAwaited = Work.read().signaled();

  // The present attempt.
  private long counterBefore;
  private long counterAfter;

  /** How many READs of entries were posted. */
  int posted;

  private int moving;
  private final long[] candidates = new long[2 * Neighbourhood.ENTRIES];
  private int candidateCount;
  private int candidate;
  private final PendingVersions pending = new PendingVersions();

  /** Whether this look-up repeats the previous one to confirm its result. */
  private boolean confirming;

  private final ObjectPlace place = new ObjectPlace();
  private int readLength;
  private int objectBytes;

  KeyWordLookUp(ClientContext context, Connections connections, Outcomes outcomes, int slot) {
    super(context, connections, outcomes, slot);
    counts = context.counts();
    copy = new ScanCopy(context.device());
  }

  /** Goes on with the next step, by the map of this attempt. */
  abstract void goOn();

  /**
   * Handles a key that was found for the key word. Its object lies at the beginning of the copy's
   * objects.
   */
  abstract void found();

  /** Handles that entries were displaced while those of a stretch were READ. */
  abstract void onStretchMoved();

  // The READs of entries.

  final void beginLookUp(Step first) {
    counts.lookUps++;
    counterBefore = session.counterSeen;
    serial++;
    posted = 0;
    step = first;
  }

  final boolean isResizing() {
    return map.nextTableKey != RegionMap.NONE;
  }

  final boolean postEntries(boolean old, long bucket, int to, int bytes) {
    return session.queuePair.post(
        readEntries
            .id(WorkId.of(serial, slot))
            .local(copy.region, to, bytes)
            .remote(
                old ? map.tableKey : map.nextTableKey, map.entriesOffset + bucket * Entry.BYTES));
  }

  final void postRoot(Step then) {
    post(
        readAwaited
            .local(copy.region, ScanCopy.ROOT, Root.LOOK_UP_BYTES)
            .remote(session.rootKey, 0),
        then);
  }

  private void post(Work read, Step then) {
    if (session.queuePair.post(read.id(WorkId.of(serial, slot)))) {
      step = then;
    } else {
      stall();
    }
  }

  /**
   * Whether the root that was READ shows that the entries are valid; if not, another attempt was
   * begun.
   */
  final boolean isRootAsExpected() {
    if (copy.incarnation() != map.incarnation) {
      onOtherIncarnation(copy.incarnation());
      return false;
    }
    if (copy.epoch() != map.epoch) {
      onStaleMap(copy.epoch());
      return false;
    }
    counterAfter = copy.structureCounter();
    session.counterSeen = counterAfter;
    if (!isUnmoved()) {
      onMoved();
      return false;
    }
    return true;
  }

  final void gotOn() {
    moving = 0;
    forgetErrors();
  }

  /** Whether no entry was displaced while the entries were READ. */
  private boolean isUnmoved() {
    return counterBefore == counterAfter && (counterAfter & 1) == 0;
  }

  private void onMoved() {
    counts.absenceRetries++;
    if (!group.isOpen() && (counterBefore & 1) == 0) {
      onStretchMoved();
    }
    if (++moving <= MOVING_AT_ONCE_MAX) {
      lookUp();
    } else if (!session.ready() && (counterAfter & 1) != 0) {
      fail(
          new ErdaException.Unavailable(
              describe()
                  + ": the server died while it moved entries or judged words (structure counter "
                  + counterAfter
                  + "); which keys there are is known after the next start"));
    } else {
      pause(moving - MOVING_AT_ONCE_MAX);
    }
  }

  private void pause(int times) {
    backOff(PAUSE_NS_MIN << Math.min(times, PAUSE_SHIFT_MAX));
  }

  final int wholeBytes(int at, int fetched, int positionMix, long keyWord) {
    return copy.wholeBytes(
        at, fetched, positionMix, keyWord, context.store().keyHash, session.geometry.heads());
  }

  // The look-up.

  final void readKeyWord() {
    confirming = false;
    pending.begin();
    beginLookUp(Step.POST_LOOK_UP);
    postKeyWord();
  }

  final void postKeyWord() {
    int all = isResizing() ? 2 : 1;
    for (; posted < all; posted++) {
      boolean old = posted == 0;
      long bucket = Entry.bucket(group.keyWord(), old ? map.buckets : map.nextBuckets);
      int to = ScanCopy.ENTRIES + posted * Neighbourhood.BYTES;
      if (!postEntries(old, bucket, to, Neighbourhood.BYTES)) {
        stall();
        return;
      }
    }
    postRoot(Step.READING_LOOK_UP);
  }

  final void onKeyWord() {
    if (!isRootAsExpected()) {
      return;
    }
    if (confirming) {
      onConfirmed();
      return;
    }
    candidateCount = 0;
    candidate = 0;
    for (int table = 0; table < posted; table++) {
      long at = ScanCopy.ENTRIES + (long) table * Neighbourhood.BYTES;
      for (int i = 0;
          (i = Neighbourhood.nextMatch(copy.memory, at, group.keyWord(), i)) >= 0;
          i++) {
        long word = Neighbourhood.versionWord(copy.memory, at, i);
        if (VersionWord.committed(word) != VersionWord.NONE
            || (session.announces() && PendingVersions.counts(word))) {
          candidates[candidateCount++] = word;
        }
      }
    }
    tryCandidate();
  }

  private void tryCandidate() {
    while (candidate < candidateCount && group.isLeftOut(candidates[candidate])) {
      candidate++;
    }
    if (candidate == candidateCount) {
      conclude();
      return;
    }
    long word = candidates[candidate];
    if (session.announces() && PendingVersions.counts(word)) {
      readObject(pending.look(copy.memory, ScanCopy.ENTRIES, nextAt(), group.keyWord(), word));
    } else {
      pending.lookElsewhere();
      readObject(VersionWord.committed(word));
    }
  }

  private long nextAt() {
    return isResizing() ? ScanCopy.ENTRIES + Neighbourhood.BYTES : PendingVersions.NO_TABLE;
  }

  private void readObject(int offset) {
    if (!place.find(session.geometry, map, Entry.headOf(group.keyWord()), offset)) {
      onInvalid();
      return;
    }
    readLength = context.readSize().within(copy.objectCapacity, place.room);
    counts.objectReads++;
    step = Step.POST_OBJECT;
    postObject();
  }

  final void postObject() {
    postObjectPart(0, readLength, Step.READING_OBJECT);
  }

  final void postRest() {
    postObjectPart(readLength, ObjectLayout.padded(objectBytes) - readLength, Step.READING_REST);
  }

  /** READs bytes of the object; {@code then} is the step that waits for it. */
  private void postObjectPart(int from, int bytes, Step then) {
    post(
        readAwaited
            .local(copy.region, ScanCopy.OBJECTS + (long) from, bytes)
            .remote(place.remoteKey, place.place + from),
        then);
  }

  final void onObject() {
    long word = ObjectLayout.firstWord(copy.memory, ScanCopy.OBJECTS);
    int length = ObjectLayout.keyLength(copy.memory, ScanCopy.OBJECTS);
    objectBytes = ObjectLayout.plausibleBytes(word, length, place.room);
    if (objectBytes == 0) {
      onNotWhole();
    } else if (objectBytes <= readLength) {
      check();
    } else {
      counts.secondReads++;
      int padded = ObjectLayout.padded(objectBytes);
      if (padded > copy.objectCapacity) {
        copy.grow(padded, readLength);
      }
      step = Step.POST_REST;
      postRest();
    }
  }

  /** Checks the object that was READ, which is complete if it is an object. */
  final void check() {
    int at = ScanCopy.OBJECTS;
    context.readSize().met(ObjectLayout.padded(objectBytes));
    if (wholeBytes(at, objectBytes, place.positionMix(), group.keyWord()) == 0) {
      onNotWhole();
    } else {
      conclude();
    }
  }

  /** Handles an object that is not whole. */
  private void onNotWhole() {
    if (!pending.looking()) {
      onInvalid();
      return;
    }
    int before = pending.onTorn();
    if (before == VersionWord.NONE) {
      candidate++;
      tryCandidate();
    } else {
      readObject(before);
    }
  }

  /**
   * Concludes that an object was found, or that there are no more objects, if the conditions for
   * that still hold.
   */
  private void conclude() {
    if (pending.met()) {
      confirming = true;
      // The counter must be one that this operation has seen, and not another one: no word may have
      // been judged since this operation's first look-up.
      long counter = counterAfter;
      beginLookUp(Step.POST_LOOK_UP);
      counterBefore = counter;
      postKeyWord();
    } else {
      take();
    }
  }

  private void onConfirmed() {
    if (!pending.unchanged(copy.memory, ScanCopy.ENTRIES, nextAt(), group.keyWord())) {
      onMoved();
      return;
    }
    if (pending.torn() != VersionWord.NONE) {
      session.report(group.keyWord(), pending.torn());
    }
    take();
  }

  private void take() {
    gotOn();
    if (candidate == candidateCount) {
      group.close();
      goOn();
      return;
    }
    int at = ScanCopy.OBJECTS;
    candidate++;
    int length = ObjectLayout.keyLength(copy.memory, at);
    boolean gives =
        !ObjectLayout.tombstone(copy.memory, at)
            && group.give(
                copy.memory
                    .asSlice(at + ObjectLayout.KEY_OFFSET, length)
                    .toArray(ValueLayout.JAVA_BYTE));
    if (gives) {
      found();
      goOn();
    } else {
      tryCandidate();
    }
  }

  /**
   * Handles an object that failed its check. Most likely the version word names another place now.
   */
  private void onInvalid() {
    counts.invalidObjects++;
    int failures = group.fails(candidates[candidate], map);
    if (group.isDamage()) {
      failDamaged("");
    } else if (failures == 1) {
      lookUp();
    } else {
      pause(failures);
    }
  }

  final void failDamaged(String why) {
    group.leaveOut(candidates[candidate]);
    fail(
        new ErdaException.Damaged(
            describe()
                + ": the object of a key is damaged (head "
                + place.head
                + ", offset "
                + place.offset
                + ")"
                + why));
  }
}
