package io.erda.client.gets;

import io.erda.client.OperationHandler;
import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Connections;
import io.erda.client.connections.Counts;
import io.erda.client.connections.KnownStore;
import io.erda.client.connections.PlaceHints;
import io.erda.client.connections.RegionMap;
import io.erda.client.connections.Requests;
import io.erda.client.connections.Session;
import io.erda.client.connections.WorkId;
import io.erda.client.operations.Outcomes;
import io.erda.client.operations.Step;
import io.erda.hashtable.Entry;
import io.erda.hashtable.Neighbourhood;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.ObjectLayout;
import io.erda.pmem.UncheckedMemory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.protocol.Root;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.lang.foreign.MemorySegment;

/**
 * A get (design, "A get"; Erda paper, section 3.3): READ the neighbourhood and the root, then the
 * object, and trust only the private copy. {@link DirectGet} is its short form.
 *
 * <p><b>Absent.</b> A key may be missed while its entry is moved: the READ may load the old place
 * after the move and the new place before it. The structure counter is odd exactly while that
 * happens, and grows. So nothing moved during a neighbourhood READ when one root READ executed
 * before it and one executed after it both show the same even counter. The root posted with the
 * neighbourhood executes after it, because READs of a queue pair execute in order. The earlier root
 * READ may be that of any look-up on this queue pair whose completion was seen before the
 * neighbourhood was posted. The counter can't have left that value in between and come back. (A
 * restart of the server keeps the counter growing, and shows in the incarnation.) Thus one round
 * trip is enough while nothing moves. A single entry that is emptied or filled meanwhile needs no
 * counter: each is one store, and the key was absent at an instant between the begin of the READ
 * and its end.
 *
 * <p><b>Doubling.</b> While the map names two tables both neighbourhoods are READ, the old table's
 * first, and looked at in that order. An entry is in the new table before it is marked as moved in
 * the old one, so when the READ of the old table came too late, the later READ of the new table
 * finds the entry. The rule for absent keys applies to the two READs together as to a single READ.
 *
 * <p><b>Pending.</b> When puts are announced first, a result that depends on the newest version of
 * a pending word is confirmed by READing the neighbourhood and the root again: {@link
 * PendingVersions}.
 *
 * <p><b>Guessing.</b> When a READ is a round trip, the place where the object lay last is READ
 * between the neighbourhood and the root. When the entry names that place the object need not be
 * READ again: this READ executed after the neighbourhood's, with a map that the root after it
 * confirms. Otherwise, or when one of the READs fails, the guess is ignored.
 */
public final class Get extends ReadOperation {
  static final long ABSENT = -1;

  /**
   * How many private copies may fail their check before the client asks the server. A copy may fail
   * because its place was reused or cleaned during the READ.
   */
  private static final int INVALID_MAX = 4;

  private static final int RESOLVES_MAX = 3;

  /**
   * Look-ups that are repeated at once while entries move; further ones pause. A move takes about a
   * microsecond.
   */
  private static final int MOVING_AT_ONCE_MAX = 64;

  private static final long MOVING_PAUSE_NS_MAX = 1_000_000;

  private final PrivateCopy copy;
  private final LookUpReads reads;
  private final DirectGet direct;
  private final PendingVersions pending = new PendingVersions();
  private final ObjectPlace place = new ObjectPlace();
  private final Work readObject = Work.read().signaled();
  private final Counts counts;
  private final PlaceHints hints;

  /** Bytes of the value, or {@link #ABSENT}. */
  public long length;

  private long keyWord;
  private long counterBefore;
  private long counterAfter;

  /** The address of the current neighbourhood: the old table's or the new one's. */
  private long tableAt;

  /** The offset of the object that is READ with the look-up; NONE when no object is. */
  private int guess;

  private boolean mayGuess;

  private int candidate;

  /**
   * Whether this look-up repeats the previous one to confirm its result: see {@link
   * PendingVersions}.
   */
  private boolean confirming;

  private int head;
  private int readLength;
  private int objectBytes;

  private int invalid;
  private int resolves;
  private int moving;

  public Get(ClientContext context, Connections connections, Outcomes outcomes, int slot) {
    super(context, connections, outcomes, slot);
    counts = context.counts();
    hints = context.hints();
    copy = new PrivateCopy(context.device());
    reads = new LookUpReads(copy);
    direct = new DirectGet(context, connections, copy);
  }

  /** Makes the memory of the copy. Called before any other method of a slot's get. */
  public void prepare() {
    copy.prepare(context.readSize().bytes());
  }

  /** REQUIRES: the length is in range. */
  public void key(byte[] key) {
    copy.key(key);
  }

  /**
   * REQUIRES: the length is in range.
   *
   * @throws ErdaException.BadArgument when the memory of the key is gone
   */
  public void key(MemorySegment key) {
    copy.key(key);
  }

  /**
   * Runs the whole get at once in the common case.
   *
   * @return false when {@link #begin} must do the get; no work is under way then
   */
  public boolean runNow() {
    length = direct.run();
    return length >= 0;
  }

  /** The short form of this get, for {@link DirectGets}. */
  DirectGet direct() {
    return direct;
  }

  public void begin() {
    open();
    keyWord = 0;
    invalid = 0;
    resolves = 0;
    forgetErrors();
    moving = 0;
    mayGuess = hints != null;
    restart();
  }

  @Override
  public void restart() {
    Session usable = connections.readSession(needsServer);
    if (usable == null) {
      awaitSession();
      return;
    }
    if (keyWord == 0) {
      if (copy.keyLength > usable.welcome.keyBytesMax()) {
        fail(KnownStore.badKey(copy.keyLength, usable.welcome.keyBytesMax()));
        return;
      }
      keyWord = copy.keyWord(context.store().keyHash, usable.geometry.heads());
      head = Entry.headOf(keyWord);
    }
    session = usable;
    lookUp();
  }

  @Override
  protected void lookUp() {
    map = session.map;
    counterBefore = session.counterSeen;
    confirming = false;
    pending.begin();
    postFromTheBeginning();
  }

  private void postFromTheBeginning() {
    serial++;
    counts.lookUps++;
    guess();
    reads.begin(guess == VersionWord.NONE ? null : place, readLength);
    step = Step.POST_LOOK_UP;
    postLookUp();
  }

  /**
   * Decides which place is READ with the look-up: once for a get, and not while the table is
   * resized.
   */
  private void guess() {
    guess = VersionWord.NONE;
    if (mayGuess && map.nextTableKey == RegionMap.NONE) {
      int last = hints.of(keyWord);
      if (last != VersionWord.NONE && place.find(session.geometry, map, head, last)) {
        guess = last;
        readLength = context.readSize().within(copy.objectCapacity, place.room);
        counts.guesses++;
      }
    }
    mayGuess = false;
  }

  private void postLookUp() {
    if (reads.post(session, map, keyWord, WorkId.of(serial, slot))) {
      step = Step.READING_LOOK_UP;
    } else {
      stall();
    }
  }

  /** A READ of this operation completed. */
  public void onRead(long ofSerial) {
    if (ofSerial != serial) {
      return;
    }
    switch (step) {
      case READING_LOOK_UP -> onRoot();
      case READING_OBJECT -> onObject();
      case READING_REST -> check();
      default -> {
        // The READ belongs to an attempt that was given up.
      }
    }
  }

  private void onRoot() {
    long incarnation = Root.incarnation(UncheckedMemory.ALL, copy.rootAt);
    if (incarnation != map.incarnation) {
      onOtherIncarnation(incarnation);
      return;
    }
    long epoch = Root.epoch(UncheckedMemory.ALL, copy.rootAt);
    if (epoch != map.epoch) {
      onStaleMap(epoch);
      return;
    }
    long counter = Root.structureCounter(UncheckedMemory.ALL, copy.rootAt);
    session.counterSeen = counter;
    if (confirming) {
      onConfirmed(counter);
      return;
    }
    counterAfter = counter;
    tableAt = copy.neighbourhoodAt;
    tryEntries(0);
  }

  /**
   * Tries the entries from {@code from} on: different keys may have equal tags, so every match is
   * tried.
   */
  private void tryEntries(int from) {
    for (int i = from;
        (i = Neighbourhood.nextMatch(UncheckedMemory.ALL, tableAt, keyWord, i)) >= 0;
        i++) {
      long word = Neighbourhood.versionWord(UncheckedMemory.ALL, tableAt, i);
      if (session.announces() && PendingVersions.counts(word)) {
        candidate = i;
        readObject(
            pending.look(UncheckedMemory.ALL, copy.neighbourhoodAt, nextAt(), keyWord, word));
        return;
      }
      int committed = VersionWord.committed(word);
      if (committed != VersionWord.NONE) {
        candidate = i;
        pending.lookElsewhere();
        readObject(committed);
        return;
      }
    }
    onNoMatch();
  }

  private void onNoMatch() {
    if (tableAt == copy.neighbourhoodAt && map.nextTableKey != RegionMap.NONE) {
      tableAt = copy.nextAt;
      tryEntries(0);
      return;
    }
    if (counterBefore == counterAfter && (counterAfter & 1) == 0) {
      length = ABSENT;
      conclude();
      return;
    }
    lookUpAgain();
  }

  /** Looks up again, because entries moved, or words were judged, during the look-up. */
  private void lookUpAgain() {
    counts.absenceRetries++;
    if (++moving <= MOVING_AT_ONCE_MAX) {
      lookUp();
    } else if (!session.ready() && (counterAfter & 1) != 0) {
      fail(GetErrors.diedMoving(describe(), counterAfter));
    } else {
      backOff(Math.min(1000L << Math.min(moving - MOVING_AT_ONCE_MAX, 10), MOVING_PAUSE_NS_MAX));
    }
  }

  private void readObject(int committed) {
    if (committed == guess) {
      counts.rightGuesses++;
      onObject();
      return;
    }
    guess = VersionWord.NONE;
    if (!place.find(session.geometry, map, head, committed)) {
      onInvalid();
      return;
    }
    readLength = context.readSize().within(copy.objectCapacity, place.room);
    counts.objectReads++;
    step = Step.POST_OBJECT;
    postObject();
  }

  private void postObject() {
    postObjectPart(0, readLength, Step.READING_OBJECT);
  }

  /** READs bytes of the object; {@code then} is the step that waits for it. */
  private void postObjectPart(int from, int bytes, Step then) {
    readObject
        .id(WorkId.of(serial, slot))
        .local(copy.region, PrivateCopy.OBJECT + from, bytes)
        .remote(place.remoteKey, place.place + from);
    if (session.queuePair.post(readObject)) {
      step = then;
    } else {
      stall();
    }
  }

  private void onObject() {
    if (!ObjectLayout.plausible(UncheckedMemory.ALL, copy.objectAt, place.room)) {
      onNotWhole();
      return;
    }
    int objectKeyLength = ObjectLayout.keyLength(UncheckedMemory.ALL, copy.objectAt);
    int objectValueLength = ObjectLayout.valueLength(UncheckedMemory.ALL, copy.objectAt);
    if (objectKeyLength > session.welcome.keyBytesMax()
        || objectValueLength > session.welcome.valueBytesMax()) {
      onNotWhole();
      return;
    }
    objectBytes = ObjectLayout.bytes(objectKeyLength, objectValueLength);
    if (objectBytes <= readLength) {
      check();
    } else {
      counts.secondReads++;
      readRest();
    }
  }

  private void readRest() {
    int padded = ObjectLayout.padded(objectBytes);
    if (padded > copy.objectCapacity) {
      copy.grow(padded, readLength);
    }
    step = Step.POST_REST;
    postRest();
  }

  private void postRest() {
    postObjectPart(readLength, ObjectLayout.padded(objectBytes) - readLength, Step.READING_REST);
  }

  /** Checks the object that was READ, which is complete if it is an object. */
  private void check() {
    context.readSize().met(ObjectLayout.padded(objectBytes));
    if (!copy.isWhole(objectBytes, place.positionMix())) {
      onNotWhole();
    } else if (!copy.isKey()) {
      tryEntries(candidate + 1);
    } else {
      if (hints != null) {
        hints.learn(keyWord, place.offset);
      }
      length =
          ObjectLayout.tombstone(UncheckedMemory.ALL, copy.objectAt)
              ? ABSENT
              : ObjectLayout.valueLength(UncheckedMemory.ALL, copy.objectAt);
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
      tryEntries(candidate + 1);
    } else {
      readObject(before);
    }
  }

  /**
   * Concludes that the key is absent or has the value that was found, if the conditions for that
   * still hold.
   */
  private void conclude() {
    if (pending.met()) {
      confirming = true;
      postFromTheBeginning();
    } else {
      finish();
    }
  }

  private long nextAt() {
    return map.nextTableKey == RegionMap.NONE ? PendingVersions.NO_TABLE : copy.nextAt;
  }

  private void onConfirmed(long counter) {
    if (counter == counterAfter
        && (counter & 1) == 0
        && pending.unchanged(UncheckedMemory.ALL, copy.neighbourhoodAt, nextAt(), keyWord)) {
      if (pending.torn() != VersionWord.NONE) {
        session.report(keyWord, pending.torn());
      }
      finish();
      return;
    }
    counterAfter = counter;
    lookUpAgain();
  }

  /** Copies the value that was found. REQUIRES: {@link #length} is not negative. */
  public void copyValue(byte[] into) {
    copy.copyValue(into, length);
  }

  /**
   * Copies the value that was found. REQUIRES: {@link #length} is in the range of {@code into}.
   *
   * @throws ErdaException.BadArgument when the memory of {@code into} is gone
   */
  public void copyValue(MemorySegment into) {
    copy.copyValue(into, length);
  }

  /**
   * Handles an object that failed its check. Most likely the version word names another place now.
   * Only the server can decide that an object is damaged.
   */
  private void onInvalid() {
    counts.invalidObjects++;
    if (++invalid <= INVALID_MAX) {
      lookUp();
    } else if (resolves >= RESOLVES_MAX) {
      fail(GetErrors.invalidHereAlone(describe(), place));
    } else if (!session.ready()) {
      needsServer = true;
      session = null;
      awaitSession();
    } else {
      resolves++;
      counts.resolves++;
      step = Step.POST_RESOLVE;
      postResolve();
    }
  }

  private void postResolve() {
    Requests requests = session.requests;
    MemorySegment message = requests.memory;
    long base = requests.at(slot);
    Message.putInt(message, base + Message.RESOLVE_KEY_LENGTH, copy.keyLength);
    Message.putInt(message, base + Message.RESOLVE_KEY_LENGTH + 4, 0);
    copy.copyKey(message, base + Message.RESOLVE_KEY);
    if (requests.send(slot, Message.RESOLVE, Message.RESOLVE_KEY + copy.keyLength)) {
      step = Step.RESOLVING;
    } else {
      stall();
    }
  }

  @Override
  public void onResponse(int type, int result, MemorySegment message, long base, int bytes) {
    switch (result) {
      case Result.OK -> {
        invalid = 0;
        restart();
      }
      case Result.DAMAGED -> fail(GetErrors.damaged(describe(), place));
      default -> fail(GetErrors.refused(describe(), result));
    }
  }

  /** A READ of this operation failed. */
  public void onReadFailed(long ofSerial, int status) {
    if (ofSerial != serial || !step.isReading()) {
      return;
    }
    // The other READs of this attempt are ignored.
    serial++;
    if (guess != VersionWord.NONE && isLookingUp() && status != Status.FLUSHED) {
      // The failed READ may be the guess, which says nothing about the store.
      stalled = false;
      lookUp();
      return;
    }
    ErdaException lasting = GetErrors.lasting(this, session.queuePair, status);
    if (lasting != null) {
      fail(lasting);
      return;
    }
    retryAfter(status);
  }

  private boolean isLookingUp() {
    return step == Step.POST_LOOK_UP || step == Step.READING_LOOK_UP;
  }

  @Override
  public void resume() {
    stalled = false;
    switch (step) {
      case POST_LOOK_UP -> postLookUp();
      case POST_OBJECT -> postObject();
      case POST_REST -> postRest();
      case POST_RESOLVE -> postResolve();
      default -> restart();
    }
  }

  @Override
  protected boolean outlives(Session lost) {
    return lost.readable() && step.isReading();
  }

  @Override
  public String describe() {
    return "get of " + copy.keyText();
  }

  @Override
  protected void onEnded() {
    if (error == null) {
      counts.gets++;
      counts.absent += length < 0 ? 1 : 0;
    }
  }

  @Override
  protected void deliver(OperationHandler handler) {
    handler.onGet(token, copy.memory(), copy.valueAt(), length);
  }

  /** REQUIRES: the queue pair is closed. */
  public void release() {
    copy.release();
  }
}
