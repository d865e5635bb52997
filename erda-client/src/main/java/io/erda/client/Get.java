package io.erda.client;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.erda.hashtable.Entry;
import io.erda.hashtable.Neighbourhood;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Protocol;
import io.erda.protocol.Result;
import io.erda.protocol.Root;
import io.erda.rdma.Flags;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A get (design, "Reading and writing"; Erda paper, section 3.3): READ the neighbourhood and the
 * root, then the object, and believe nothing but the private copy.
 *
 * <p>Its memory: {@code root 64 | neighbourhood 256 | the one in the new table 256 | key 2048 |
 * object}. The object part grows on demand.
 *
 * <p><b>Absent.</b> A key that is there may be missed while its entry is moved: the READ may see
 * the old place after and the new place before. The structure counter is odd exactly while that
 * happens, and grows. So nothing moved during a neighbourhood READ when one root READ executed
 * before it and one executed after it both show the same even counter. The root posted with the
 * neighbourhood executes after it, because READs of a queue pair execute in order. The one before
 * may belong to any earlier look-up on this queue pair: what counts is that it had executed, which
 * is certain when its completion was seen before the neighbourhood was posted. The counter can't
 * have left that value in between and come back. (A restart of the server keeps the counter
 * growing, and shows in the incarnation.) Thus one round trip is enough while nothing moves. A
 * single entry that is emptied or filled meanwhile needs no counter: each is one store, and the key
 * was absent at an instant between the begin of the READ and its end.
 *
 * <p><b>Doubling.</b> While the map names two tables both neighbourhoods are READ, the old table's
 * first, and looked at in that order. An entry is in the new table before it is marked as moved in
 * the old one, so a READ of the old one that came too late has one of the new one behind it that
 * did not. All of the above holds for the two READs as for the one.
 */
final class Get extends Operation {
  static final long ABSENT = -1;

  private static final int POST_NEIGHBOURHOOD = OWN_STEPS;
  private static final int POST_NEXT = OWN_STEPS + 1;
  private static final int POST_ROOT = OWN_STEPS + 2;
  private static final int LOOKING = OWN_STEPS + 3;
  private static final int POST_OBJECT = OWN_STEPS + 4;
  private static final int READING = OWN_STEPS + 5;
  private static final int POST_REST = OWN_STEPS + 6;
  private static final int READING_REST = OWN_STEPS + 7;
  private static final int POST_RESOLVE = OWN_STEPS + 8;
  private static final int RESOLVING = OWN_STEPS + 9;

  /**
   * All memory, to load the private copy by address. A constant segment costs the load alone; one
   * in a field costs ten more instructions of checks each time, and a get loads some forty words.
   * What is loaded lies in {@link #own}: offsets are constants, or lengths that were compared with
   * the copy's before.
   */
  @SuppressWarnings("restricted")
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  /** Of addresses in user space: what is masked with it needs no check for bounds. */
  private static final long ADDRESS = (1L << 48) - 1;

  private static final int ROOT = 0;
  private static final int NEIGHBOURHOOD = 64;
  private static final int NEXT = NEIGHBOURHOOD + Neighbourhood.BYTES;
  private static final int KEY = NEXT + Neighbourhood.BYTES;
  private static final int OBJECT = KEY + Protocol.KEY_BYTES_MAX;
  private static final int OBJECT_BYTES_MIN = 4096;

  /**
   * Private copies that may fail their check before the server is asked: a place may be reused or
   * cleaned meanwhile.
   */
  private static final int INVALID_MAX = 4;

  /**
   * Entries of a neighbourhood that are READ first where a READ is a number of loads: with half of
   * the buckets taken most keys are among them, and each further cache line would be one more miss.
   */
  private static final int NEAR = 4;

  private static final int NEAR_BYTES = NEAR * Entry.BYTES;

  private static final int RESOLVES_MAX = 3;
  private static final int STALE_MAPS_MAX = 64;
  private static final int READ_ERRORS_MAX = 4;

  /**
   * READs of one get that may be flushed while READs are thought to outlive the server: the first
   * may have been under way when the connection ended, another one says that they don't.
   */
  private static final int LOST_READS_MAX = 1;

  /**
   * Look-ups repeated at once while entries move; then with pauses. A move takes about a
   * microsecond.
   */
  private static final int MOVING_AT_ONCE_MAX = 64;

  private static final long MOVING_PAUSE_NS_MAX = 1_000_000;

  private MemoryRegion region;
  private ObjectChecksum checksum;
  private int objectCapacity;

  /** Root, neighbourhood, key, object; null until it is needed. Reachable as long as it is used. */
  private MemorySegment own;

  /** Addresses of the parts of {@link #own}. */
  private long rootAt;

  private long neighbourhoodAt;
  private long nextAt;
  private long keyAt;
  private long objectAt;

  /** Of the value, bytes, or {@link #ABSENT}. */
  long length;

  private int keyLength;
  private long keyWord;
  private long serial;
  private RegionMap map;
  private long counterBefore;
  private long counterAfter;

  /** Which private copy is looked at: {@link #neighbourhoodAt} or {@link #nextAt}. */
  private long tableAt;

  private int candidate;
  private int head;
  private int generation;
  private int offset;
  private long remoteKey;
  private long place;
  private long room;
  private int readLength;
  private int objectBytes;

  private int invalid;
  private int resolves;
  private int staleMaps;
  private int readErrors;
  private int moving;

  Get(ClientCore core, int slot) {
    super(core, slot);
  }

  /** Makes the memory there; the first thing that happens to a slot. */
  void prepare() {
    if (own == null) {
      allocate(Math.max(OBJECT_BYTES_MIN, ObjectLayout.padded(core.readBytes)));
    }
  }

  /** REQUIRES: the length is in range. */
  void key(byte[] key) {
    keyLength = key.length;
    MemorySegment.copy(key, 0, ALL, JAVA_BYTE, keyAt, key.length);
  }

  /** REQUIRES: the length is in range. */
  void key(MemorySegment key) {
    keyLength = (int) key.byteSize();
    long to = keyAt & ADDRESS;
    int last = keyLength - Long.BYTES;
    if (last < 0) {
      for (int at = 0; at < keyLength; at++) {
        ALL.set(JAVA_BYTE, to + at, key.get(JAVA_BYTE, at));
      }
      return;
    }
    for (int at = 0; at < last; at += Long.BYTES) {
      ALL.set(JAVA_LONG_UNALIGNED, to + at, key.get(JAVA_LONG_UNALIGNED, at));
    }
    ALL.set(JAVA_LONG_UNALIGNED, to + last, key.get(JAVA_LONG_UNALIGNED, last));
  }

  /**
   * The whole get, where the device READs in the call and nothing is unusual: one table, the key
   * among the first entries of its neighbourhood, its value fetched whole by one READ. Believes
   * what the general way believes and no more, and never that a key is absent. The value's length
   * is {@link #length}.
   *
   * @return false when {@link #begin} has to find out; nothing is under way then
   */
  boolean runNow() {
    Session current = core.readSession(false);
    if (current == null) {
      return false;
    }
    long wanted = Entry.keyWord(core.keyHash.ofNative(keyAt, keyLength), current.heads);
    RegionMap now = current.map;
    QueuePair queuePair = current.queuePair;
    long bucketAt = now.entriesOffset + Entry.bucket(wanted, now.buckets) * Entry.BYTES;
    if (now.nextTableKey != RegionMap.NONE
        || !queuePair.readNow(region, NEIGHBOURHOOD, now.tableKey, bucketAt, NEAR_BYTES)
        || !queuePair.readNow(region, ROOT, current.rootKey, 0, Root.LOOK_UP_BYTES)) {
      return false;
    }
    long root = rootAt & ADDRESS;
    if (Root.incarnation(ALL, root) != now.incarnation || Root.epoch(ALL, root) != now.epoch) {
      return false;
    }
    current.counterSeen = Root.structureCounter(ALL, root);
    long near = neighbourhoodAt & ADDRESS;
    for (int i = 0; i < NEAR; i++) {
      if (Neighbourhood.keyWord(ALL, near, 0) == wanted) {
        int committed = VersionWord.committed(Neighbourhood.versionWord(ALL, near, 0));
        return committed != VersionWord.NONE && hasObject(current, now, wanted, committed);
      }
      near += Entry.BYTES;
    }
    return false;
  }

  /** READs the object at an offset; whether it is whole and of this key. */
  private boolean hasObject(Session current, RegionMap now, long wanted, int at) {
    int ofHead = Entry.headOf(wanted);
    long position = (long) at << 3;
    int index = (int) (position >>> current.regionShift);
    long key = now.remoteKey(ofHead, index);
    long placed = position & (current.regionBytes - 1);
    long left = current.segmentBytes - (placed & (current.segmentBytes - 1));
    int fetched = (int) Math.min(Math.min(core.readBytes, objectCapacity), left);
    if (key == RegionMap.NONE || !current.queuePair.readNow(region, OBJECT, key, placed, fetched)) {
      return false;
    }
    long found = objectAt & ADDRESS;
    long word = ObjectLayout.firstWord(ALL, found);
    int bytes = ObjectLayout.plausibleBytes(word, ObjectLayout.keyLength(ALL, found), fetched);
    int mix = ObjectChecksum.positionMix(ofHead, now.generation(ofHead, index), at);
    if (bytes == 0
        || ObjectLayout.tombstone(word)
        || checksum.compute(OBJECT, bytes, mix) != ObjectLayout.checksum(word)
        || !isKey()) {
      return false;
    }
    core.gotNow(ObjectLayout.padded(bytes));
    length = (long) bytes - ObjectLayout.HEADER_BYTES - keyLength;
    return true;
  }

  void begin() {
    open();
    keyWord = 0;
    invalid = 0;
    resolves = 0;
    staleMaps = 0;
    readErrors = 0;
    moving = 0;
    restart();
  }

  @Override
  void restart() {
    Session usable = core.readSession(needsServer);
    if (usable == null) {
      awaitSession();
      return;
    }
    if (keyWord == 0) {
      if (keyLength > usable.welcome.keyBytesMax()) {
        fail(ClientCore.badKey(keyLength, usable.welcome.keyBytesMax()));
        return;
      }
      keyWord = Entry.keyWord(core.keyHash.ofNative(keyAt, keyLength), usable.heads);
      head = Entry.headOf(keyWord);
    }
    session = usable;
    lookUp();
  }

  private void lookUp() {
    map = session.map;
    counterBefore = session.counterSeen;
    serial++;
    core.lookUps++;
    step = POST_NEIGHBOURHOOD;
    postLookUp();
  }

  /** A neighbourhood reports no success: the root's, posted behind it, stands for all. */
  private void postLookUp() {
    QueuePair queuePair = session.queuePair;
    long wrId = Session.workId(serial, slot);
    if (step == POST_NEIGHBOURHOOD) {
      long at = map.entriesOffset + Entry.bucket(keyWord, map.buckets) * Entry.BYTES;
      if (!queuePair.postRead(
          wrId, region, NEIGHBOURHOOD, map.tableKey, at, Neighbourhood.BYTES, Flags.NONE)) {
        stall();
        return;
      }
      step = map.nextTableKey == RegionMap.NONE ? POST_ROOT : POST_NEXT;
    }
    if (step == POST_NEXT) {
      long at = map.entriesOffset + Entry.bucket(keyWord, map.nextBuckets) * Entry.BYTES;
      if (!queuePair.postRead(
          wrId, region, NEXT, map.nextTableKey, at, Neighbourhood.BYTES, Flags.NONE)) {
        stall();
        return;
      }
      step = POST_ROOT;
    }
    if (!queuePair.postRead(
        wrId, region, ROOT, session.rootKey, 0, Root.LOOK_UP_BYTES, Flags.SIGNALED)) {
      stall();
      return;
    }
    step = LOOKING;
  }

  /** A READ of this operation completed. */
  void onRead(long ofSerial) {
    if (ofSerial != serial) {
      return;
    }
    switch (step) {
      case LOOKING -> onRoot();
      case READING -> onObject();
      case READING_REST -> check();
      default -> {
        // Of an attempt that was given up.
      }
    }
  }

  private void onRoot() {
    if (Root.incarnation(ALL, rootAt) != map.incarnation) {
      onOtherIncarnation();
      return;
    }
    if (Root.epoch(ALL, rootAt) != map.epoch) {
      onStaleMap();
      return;
    }
    counterAfter = Root.structureCounter(ALL, rootAt);
    session.counterSeen = counterAfter;
    tableAt = neighbourhoodAt;
    tryEntries(0);
  }

  /** Another server has this store: it may not have got as far as to accept connections. */
  private void onOtherIncarnation() {
    patient = true;
    Session old = session;
    long now = Root.incarnation(ALL, rootAt);
    old.fail(
        "the server was started anew (incarnation "
            + Long.toHexString(now)
            + ", was "
            + Long.toHexString(map.incarnation)
            + ")");
  }

  private void onStaleMap() {
    if (++staleMaps > STALE_MAPS_MAX) {
      fail(
          new ErdaException.Unavailable(
              describe()
                  + ": the region map was stale "
                  + staleMaps
                  + " times; root says epoch "
                  + Root.epoch(ALL, rootAt)
                  + ", map says "
                  + map.epoch));
    } else if (session.map != map) {
      lookUp();
    } else {
      refreshMap();
    }
  }

  private void refreshMap() {
    if (session.refreshMap()) {
      step = WAIT_MAP;
    } else {
      // Only a server can tell the new map, and this one is gone.
      needsServer = true;
      session = null;
      awaitSession();
    }
  }

  /** Tries the entries from {@code from} on: a tag is not a key, so every equal one counts. */
  private void tryEntries(int from) {
    for (int i = from; (i = Neighbourhood.nextMatch(ALL, tableAt, keyWord, i)) >= 0; i++) {
      int committed = VersionWord.committed(Neighbourhood.versionWord(ALL, tableAt, i));
      if (committed != VersionWord.NONE) {
        candidate = i;
        readObject(committed);
        return;
      }
    }
    onNoMatch();
  }

  private void onNoMatch() {
    if (tableAt == neighbourhoodAt && map.nextTableKey != RegionMap.NONE) {
      tableAt = nextAt;
      tryEntries(0);
      return;
    }
    if (counterBefore == counterAfter && (counterAfter & 1) == 0) {
      length = ABSENT;
      finish();
      return;
    }
    core.absenceRetries++;
    if (++moving <= MOVING_AT_ONCE_MAX) {
      lookUp();
    } else if (!session.ready() && (counterAfter & 1) != 0) {
      fail(
          new ErdaException.Unavailable(
              describe()
                  + " was not found, and the server died while it moved entries (structure counter "
                  + counterAfter
                  + "): whether the key is absent is known after the next start"));
    } else {
      backOff(Math.min(1000L << Math.min(moving - MOVING_AT_ONCE_MAX, 10), MOVING_PAUSE_NS_MAX));
    }
  }

  private void readObject(int committed) {
    offset = committed;
    long position = (long) committed << 3;
    int index = (int) (position >>> session.regionShift);
    remoteKey = map.remoteKey(head, index);
    if (remoteKey == RegionMap.NONE) {
      onInvalid();
      return;
    }
    generation = map.generation(head, index);
    place = position & (session.regionBytes - 1);
    room = session.segmentBytes - (place & (session.segmentBytes - 1));
    readLength = (int) Math.min(Math.min(core.readBytes, objectCapacity), room);
    core.objectReads++;
    step = POST_OBJECT;
    postObject();
  }

  private void postObject() {
    if (session.queuePair.postRead(
        Session.workId(serial, slot),
        region,
        OBJECT,
        remoteKey,
        place,
        readLength,
        Flags.SIGNALED)) {
      step = READING;
    } else {
      stall();
    }
  }

  private void onObject() {
    if (!ObjectLayout.plausible(ALL, objectAt, room)) {
      onInvalid();
      return;
    }
    int objectKeyLength = ObjectLayout.keyLength(ALL, objectAt);
    int objectValueLength = ObjectLayout.valueLength(ALL, objectAt);
    if (objectKeyLength > session.welcome.keyBytesMax()
        || objectValueLength > session.welcome.valueBytesMax()) {
      onInvalid();
      return;
    }
    objectBytes = ObjectLayout.bytes(objectKeyLength, objectValueLength);
    if (objectBytes <= readLength) {
      check();
    } else {
      core.secondReads++;
      readRest();
    }
  }

  private void readRest() {
    int padded = ObjectLayout.padded(objectBytes);
    if (padded > objectCapacity) {
      grow(padded);
    }
    step = POST_REST;
    postRest();
  }

  private void postRest() {
    int rest = ObjectLayout.padded(objectBytes) - readLength;
    if (session.queuePair.postRead(
        Session.workId(serial, slot),
        region,
        OBJECT + readLength,
        remoteKey,
        place + readLength,
        rest,
        Flags.SIGNALED)) {
      step = READING_REST;
    } else {
      stall();
    }
  }

  /** The whole object is here, if it is one. */
  private void check() {
    core.met(ObjectLayout.padded(objectBytes));
    int positionMix = ObjectChecksum.positionMix(head, generation, offset);
    if (checksum.compute(OBJECT, objectBytes, positionMix)
        != ObjectLayout.checksum(ALL, objectAt)) {
      onInvalid();
    } else if (!isKey()) {
      tryEntries(candidate + 1);
    } else {
      length =
          ObjectLayout.tombstone(ALL, objectAt) ? ABSENT : ObjectLayout.valueLength(ALL, objectAt);
      finish();
    }
  }

  /**
   * By words, of which the last may begin inside the one before: most keys are a few words long,
   * and the general comparison costs as much as ten of these.
   */
  private boolean isKey() {
    long wanted = keyAt & ADDRESS;
    long object = objectAt & ADDRESS;
    int last = keyLength - Long.BYTES;
    if (ObjectLayout.keyLength(ALL, object) != keyLength) {
      return false;
    }
    long found = object + ObjectLayout.KEY_OFFSET;
    if (last < 0) {
      return isShortKey(wanted, found);
    }
    for (int at = 0; at < last; at += Long.BYTES) {
      if (ALL.get(JAVA_LONG_UNALIGNED, wanted + at) != ALL.get(JAVA_LONG_UNALIGNED, found + at)) {
        return false;
      }
    }
    return ALL.get(JAVA_LONG_UNALIGNED, wanted + last)
        == ALL.get(JAVA_LONG_UNALIGNED, found + last);
  }

  private boolean isShortKey(long wanted, long found) {
    for (int at = 0; at < keyLength; at++) {
      if (ALL.get(JAVA_BYTE, wanted + at) != ALL.get(JAVA_BYTE, found + at)) {
        return false;
      }
    }
    return true;
  }

  /** Copies the value that was found. REQUIRES: {@link #length} is not negative. */
  void copyValue(byte[] into) {
    MemorySegment.copy(ALL, JAVA_BYTE, objectAt + valueOffset(), into, 0, (int) length);
  }

  /** Copies the value that was found. REQUIRES: {@link #length} is in the range of {@code into}. */
  void copyValue(MemorySegment into) {
    MemorySegment.copy(ALL, objectAt + valueOffset(), into, 0, length);
  }

  private long valueOffset() {
    return (long) ObjectLayout.KEY_OFFSET + keyLength;
  }

  /**
   * The word named something else by now, most likely; only the server says that an object is
   * damaged.
   */
  private void onInvalid() {
    core.invalidObjects++;
    if (++invalid <= INVALID_MAX) {
      lookUp();
    } else if (resolves >= RESOLVES_MAX) {
      fail(
          new ErdaException.Unavailable(
              describe()
                  + " fails its check here (head "
                  + head
                  + ", offset "
                  + offset
                  + ", generation "
                  + generation
                  + "), and the server finds it sound"));
    } else if (!session.ready()) {
      needsServer = true;
      session = null;
      awaitSession();
    } else {
      resolves++;
      core.resolves++;
      step = POST_RESOLVE;
      postResolve();
    }
  }

  private void postResolve() {
    MemorySegment message = session.memory;
    long base = session.requestAt(slot);
    Message.putInt(message, base + Message.RESOLVE_KEY_LENGTH, keyLength);
    Message.putInt(message, base + Message.RESOLVE_KEY_LENGTH + 4, 0);
    MemorySegment.copy(ALL, keyAt, message, base + Message.RESOLVE_KEY, keyLength);
    if (session.send(slot, base, Message.RESOLVE, Message.RESOLVE_KEY + keyLength)) {
      step = RESOLVING;
    } else {
      stall();
    }
  }

  @Override
  void onResponse(int type, int result, MemorySegment message, long base, int bytes) {
    switch (result) {
      case Result.OK -> {
        invalid = 0;
        restart();
      }
      case Result.DAMAGED ->
          fail(
              new ErdaException.Damaged(
                  describe()
                      + ": its newest object is damaged (head "
                      + head
                      + ", offset "
                      + offset
                      + ")"));
      default ->
          fail(
              new ErdaException.Unavailable(
                  describe() + " fails its check, and the server says: " + Result.name(result)));
    }
  }

  /** A READ of this operation failed. */
  void onReadFailed(long ofSerial, int status) {
    if (ofSerial != serial || step < OWN_STEPS || step > READING_REST) {
      return;
    }
    // The other READs of this attempt end in nothing.
    serial++;
    if (status == Status.DENIED || status == Status.UNTRUSTED) {
      fail(
          new ErdaException.Unusable(
              describe()
                  + ": a file of the store can't be read from here: "
                  + Status.name(status)));
      return;
    }
    if (status == Status.MEMORY_LOST) {
      fail(new ErdaException.Damaged(describe() + ": " + session.queuePair.lostRegion()));
      return;
    }
    boolean stale = status == Status.REMOTE_ACCESS;
    readErrors += stale ? 0 : 1;
    staleMaps += stale ? 1 : 0;
    if (readErrors > READ_ERRORS_MAX || staleMaps > STALE_MAPS_MAX) {
      fail(
          new ErdaException.Unavailable(
              describe()
                  + ": READs failed "
                  + (readErrors + staleMaps)
                  + " times, the last one: "
                  + Status.name(status)));
    } else if (stale) {
      // What was named was retired meanwhile: the map that named it is old. Nobody but another
      // server that starts retires what a server left.
      patient |= !session.ready();
      refreshMap();
    } else if (session.ready()
        || status != Status.FLUSHED
        || !session.readsOutlive
        || readErrors > LOST_READS_MAX) {
      session.fail("a READ ended with: " + Status.name(status));
    } else {
      session = null;
      awaitSession();
    }
  }

  @Override
  void resume() {
    stalled = false;
    switch (step) {
      case POST_NEIGHBOURHOOD, POST_NEXT, POST_ROOT -> postLookUp();
      case POST_OBJECT -> postObject();
      case POST_REST -> postRest();
      case POST_RESOLVE -> postResolve();
      default -> restart();
    }
  }

  @Override
  boolean outlives(Session lost) {
    return lost.readable() && step >= OWN_STEPS && step < POST_RESOLVE;
  }

  @Override
  String describe() {
    return "get of " + KeyText.of(own, KEY, keyLength);
  }

  @Override
  void deliver(OperationHandler handler) {
    handler.onGet(token, own, OBJECT + valueOffset(), length);
  }

  /**
   * Keeps what lies before {@code OBJECT + readLength}. REQUIRES: no READ into the memory is
   * outstanding.
   */
  private void grow(int bytes) {
    MemorySegment old = own;
    MemoryRegion oldRegion = region;
    allocate(Integer.highestOneBit(Math.max(bytes, 2) - 1) << 1);
    MemorySegment.copy(old, 0, own, 0, OBJECT + readLength);
    core.device.deregister(oldRegion);
  }

  private void allocate(int bytes) {
    objectCapacity = bytes;
    // Of the garbage collector: a checksum over memory that can be closed costs two locked
    // instructions, each of which waits for the
    // misses of the object's copy.
    own = Arena.ofAuto().allocate(OBJECT + (long) bytes, 64);
    rootAt = own.address() + ROOT;
    neighbourhoodAt = own.address() + NEIGHBOURHOOD;
    nextAt = own.address() + NEXT;
    keyAt = own.address() + KEY;
    objectAt = own.address() + OBJECT;
    region = core.registerLocal(own);
    checksum = new ObjectChecksum(own);
  }

  /** REQUIRES: the queue pair is closed. */
  void release() {
    if (own != null) {
      core.device.deregister(region);
      own = null;
    }
  }
}
