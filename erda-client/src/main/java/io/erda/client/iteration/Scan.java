package io.erda.client.iteration;

import io.erda.client.OperationHandler;
import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Connections;
import io.erda.client.connections.RegionMap;
import io.erda.client.connections.Session;
import io.erda.client.connections.WorkId;
import io.erda.client.gets.GetErrors;
import io.erda.client.operations.Outcomes;
import io.erda.client.operations.Step;
import io.erda.hashtable.Entry;
import io.erda.logstore.ObjectLayout;
import io.erda.protocol.ErdaException;
import io.erda.rdma.Status;
import java.lang.foreign.MemorySegment;

/**
 * An iteration over all keys, one-sided; each run of the operation moves it to the next key, or to
 * its end. For its guarantees and their proof see {@code docs/decisions/2026-11-23-iterating.md}.
 *
 * <p>It takes stretches of home buckets, in the order of {@link ScanOrder}. Of each stretch it
 * READs the whole neighbourhoods, in the old table and then in the new one, and then the root. The
 * entries are valid when the structure counter was even and the same before and after, as for a
 * {@code Get} that finds no match: then every key that was present all the time is among the
 * entries. Then it READs their objects, many at a time, and returns their keys.
 *
 * <p>When an entry's object is gone or longer than the READ, when a key word was found twice, or
 * when puts announce first and the word is pending, the key word is looked up separately: {@link
 * KeyWordLookUp}.
 */
public final class Scan extends KeyWordLookUp {
  /** Stands for the length of a key when there are no more keys. */
  public static final int END = -1;

  // The state of the iteration. It outlives a run, a connection and a server.

  /** The order of the iteration; null before the iteration has the first map. */
  private ScanOrder order;

  private boolean endsWithStretch;

  private final ScanEntries entries = new ScanEntries();

  /** The region map with which {@link #entries} were READ. */
  private RegionMap entriesMap;

  /** Whether the map was refreshed because its table was smaller than an earlier table. */
  private boolean askedForMap;

  /** Whether {@link #entries} are those of the current stretch of {@link #order}. */
  private boolean inStretch;

  /** Objects that were READ and whose keys are not returned yet, and key words to be looked up. */
  private final ScanBatch batch = new ScanBatch();

  // The place of the object whose key was returned last.
  private int objectAt;

  /** Bytes of the key, or {@link #END}. */
  public int keyLength;

  public Scan(ClientContext context, Connections connections, Outcomes outcomes, int slot) {
    super(context, connections, outcomes, slot);
  }

  /** Begins a new iteration. REQUIRES: none is being run. */
  public void rewind() {
    rewind(null, false);
  }

  /**
   * Continues an iteration of this client or of another client of the store.
   *
   * @param from the iteration's order, which this one owns from now on; null: from the beginning
   * @param ofOneStretch whether to end after one stretch, with the order at the next one
   */
  public void rewind(ScanOrder from, boolean ofOneStretch) {
    copy.prepare();
    order = from;
    endsWithStretch = ofOneStretch;
    inStretch = false;
    entries.clear(0, null);
    group.close();
    batch.rewind();
    keyLength = 0;
  }

  /**
   * Returns the order, which holds the progress of the iteration; null when the iteration has not
   * begun.
   */
  public ScanOrder order() {
    return order;
  }

  /**
   * Moves to the next key if its object was already READ. Returns false when {@link #begin} must do
   * that.
   */
  public boolean runNow() {
    if (!batch.hasFound()) {
      return false;
    }
    objectAt = batch.takeFound();
    keyLength = ObjectLayout.keyLength(copy.memory, objectAt);
    return true;
  }

  public void begin() {
    askedForMap = false;
    open();
    gotOn();
    restart();
  }

  @Override
  public void restart() {
    Session usable = connections.readSession(needsServer);
    if (usable == null) {
      awaitSession();
      return;
    }
    session = usable;
    lookUp();
  }

  @Override
  protected void lookUp() {
    map = session.map;
    goOn();
  }

  @Override
  void goOn() {
    if (runNow()) {
      finish();
    } else if (group.isOpen()) {
      readKeyWord();
    } else if (batch.hasLookUps()) {
      group.open(batch.takeLookUp());
      readKeyWord();
    } else if (batch.nextEntry() < entries.size()) {
      readObjects();
    } else {
      readNextStretch();
    }
  }

  @Override
  void found() {
    batch.setFound(ScanCopy.OBJECTS);
  }

  @Override
  void onStretchMoved() {
    order.tooLong();
  }

  // A stretch of the tables.

  private void readNextStretch() {
    boolean taken = inStretch;
    if (taken) {
      inStretch = false;
      order.taken();
    }
    if (order == null) {
      order = new ScanOrder(map.buckets, map.nextBuckets);
    }
    if (order.isAtEnd() || (taken && endsWithStretch)) {
      keyLength = END;
      finish();
    } else if (!order.fits(map.buckets, map.nextBuckets) && !askedForMap) {
      onSmallerTable();
    } else {
      order.take(map.buckets, map.nextBuckets);
      beginLookUp(Step.POST_TABLE);
      postTable();
    }
  }

  /**
   * Handles a smaller table than before: an iteration continued from another client may have seen a
   * newer map than this client has. When the map is current, the table was halved.
   */
  private void onSmallerTable() {
    if (session.map != map) {
      lookUp();
    } else {
      askedForMap = true;
      refreshMap();
    }
  }

  /**
   * READs the entries. These READs do not report their success; the READ of the root, which is
   * posted after them, reports for all.
   */
  private void postTable() {
    int ofTable = order.ranges(map.buckets);
    int all = ofTable + (isResizing() ? order.ranges(map.nextBuckets) : 0);
    int bytes = order.slots() * Entry.BYTES;
    for (; posted < all; posted++) {
      boolean old = posted < ofTable;
      long bucket = order.bucket(old ? posted : posted - ofTable);
      if (!postEntries(old, bucket, ScanCopy.ENTRIES + posted * bytes, bytes)) {
        stall();
        return;
      }
    }
    postRoot(Step.READING_TABLE);
  }

  private void onTable() {
    if (!isRootAsExpected()) {
      return;
    }
    gotOn();
    int ofTable = order.ranges(map.buckets);
    int all = posted;
    int slots = order.slots();
    entries.clear(all * slots, order);
    for (int i = 0; i < all; i++) {
      boolean old = i < ofTable;
      entries.collect(
          copy.memory,
          ScanCopy.ENTRIES + (long) i * slots * Entry.BYTES,
          slots,
          order.bucket(old ? i : i - ofTable),
          order.count(),
          old ? map.buckets : map.nextBuckets,
          session.announces());
    }
    entriesMap = map;
    inStretch = true;
    batch.rewind();
    goOn();
  }

  // The objects of its entries.

  private void readObjects() {
    int stride = context.readSize().within(copy.objectCapacity, copy.objectCapacity);
    batch.gather(entries, entriesMap, map, session.geometry, stride, copy.objectCapacity);
    serial++;
    step = Step.POST_OBJECTS;
    if (batch.isEmpty()) {
      endBatch();
    } else {
      counts.objectReads += batch.size();
      postObjects();
    }
  }

  private void postObjects() {
    if (batch.post(session.queuePair, WorkId.of(serial, slot), copy.region)) {
      step = Step.READING_OBJECTS;
    } else {
      stall();
    }
  }

  private void onObjects() {
    batch.check(copy, context.readSize(), context.store().keyHash, session.geometry.heads());
    endBatch();
  }

  private void endBatch() {
    batch.end();
    forgetErrors();
    goOn();
  }

  // Completions.

  /** A READ of this operation completed. */
  public void onRead(long ofSerial) {
    if (ofSerial != serial) {
      return;
    }
    switch (step) {
      case READING_TABLE -> onTable();
      case READING_OBJECTS -> onObjects();
      case READING_LOOK_UP -> onKeyWord();
      case READING_OBJECT -> onObject();
      case READING_REST -> check();
      default -> {
        // The READ belongs to an attempt that was given up.
      }
    }
  }

  /** A READ of this operation failed. */
  public void onReadFailed(long ofSerial, int status) {
    if (ofSerial != serial || !step.isReading()) {
      return;
    }
    // The other READs of this attempt are ignored.
    serial++;
    stalled = false;
    boolean denied = status == Status.DENIED || status == Status.UNTRUSTED;
    boolean lost = status == Status.MEMORY_LOST;
    if (status == Status.UNREADABLE) {
      fail(
          new ErdaException.Unavailable(
              describe() + ": " + GetErrors.status(session.queuePair, status)));
    } else if (denied || (lost && isReadingEntries())) {
      fail(
          new ErdaException.Unusable(
              describe()
                  + ": a file of the store can't be read from here: "
                  + GetErrors.status(session.queuePair, status)));
    } else if (lost && (step == Step.POST_OBJECTS || step == Step.READING_OBJECTS)) {
      // Which READ failed is unknown.
      batch.lookUpAll();
      endBatch();
    } else if (lost) {
      failDamaged(": " + GetErrors.status(session.queuePair, status));
    } else {
      retryAfter(status);
    }
  }

  private boolean isReadingEntries() {
    return switch (step) {
      case POST_TABLE, READING_TABLE, POST_LOOK_UP, READING_LOOK_UP -> true;
      default -> false;
    };
  }

  @Override
  public void resume() {
    stalled = false;
    switch (step) {
      case POST_TABLE -> postTable();
      case POST_OBJECTS -> postObjects();
      case POST_LOOK_UP -> postKeyWord();
      case POST_OBJECT -> postObject();
      case POST_REST -> postRest();
      default -> restart();
    }
  }

  @Override
  public void onResponse(int type, int result, MemorySegment message, long base, int length) {
    throw new IllegalStateException("an iteration sends no requests");
  }

  @Override
  protected boolean outlives(Session lost) {
    return lost.readable() && step.isReading();
  }

  // The results.

  /** The current key. */
  public MemorySegment key() {
    return copy.memory.asSlice(objectAt + ObjectLayout.KEY_OFFSET, keyLength);
  }

  /** The current value. */
  public MemorySegment value() {
    return copy.memory.asSlice(
        objectAt + ObjectLayout.KEY_OFFSET + (long) keyLength,
        ObjectLayout.valueLength(copy.memory, objectAt));
  }

  @Override
  public String describe() {
    return "iteration";
  }

  @Override
  protected void deliver(OperationHandler handler) {
    if (keyLength == END) {
      handler.onEntry(token, null, null);
    } else {
      handler.onEntry(token, key(), value());
    }
  }

  /** REQUIRES: the queue pair is closed. */
  public void release() {
    copy.release();
  }
}
