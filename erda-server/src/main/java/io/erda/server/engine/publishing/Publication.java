package io.erda.server.engine.publishing;

import io.erda.cleaner.LiveBytes;
import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.Extent;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.protocol.Result;
import io.erda.server.engine.tables.Insertion;
import io.erda.server.engine.tables.KeyWords;
import io.erda.server.engine.tables.PendingWords;
import io.erda.server.engine.tables.PutCounts;
import io.erda.server.engine.tables.StoredObjects;
import io.erda.server.engine.tables.Tables;
import java.lang.foreign.MemorySegment;

/**
 * The only place of the code that publishes objects (rule 5), in this order: data, flush, drain,
 * word, flush, drain.
 *
 * <p>A put goes through stages, see {@link PublishRequest.Stage}. First its object is made durable.
 * A last check makes sure that its client has not left. Then a word that names the object is stored
 * in the entry and made durable. The word is committed, and then the caller answers. When visible
 * data may still be lost, the word is first stored as pending, and the store that commits it is the
 * linearization point of the put; no put is pending for longer than its batch. Otherwise the word
 * is stored only once.
 *
 * <p>A batch of puts and deletes is published together, so that a slow drain is paid once for all
 * of them. When a drain waits for a device, {@link Syncs} may wait in another thread, and the batch
 * goes on afterwards; one batch is under way at a time. Allocates nothing, except for batches
 * larger than any before.
 */
public final class Publication {
  /**
   * The most publications before the low-water mark is updated. This bounds the bytes that recovery
   * must read.
   */
  private static final int UNSETTLED_MAX = 1024;

  private final Tables tables;
  private final Insertion insertion;
  private final LogStore log;
  private final PendingWords pending;
  private final KeyWords keyWords;
  private final StoredObjects objects;
  private final LiveBytes live;
  private final PutCounts counts;
  private final LoadAhead loads;
  private final int keyBytesMax;
  private final Syncs syncs;

  private final Extent[] unsettledExtents = new Extent[UNSETTLED_MAX];
  private final long[] unsettledPlaces = new long[UNSETTLED_MAX];
  private int unsettled;

  // The state of the batch that is under way.

  /** The drain that the publication waits for. */
  private enum Waits {
    /** No batch is under way. */
    FOR_NOTHING,
    /** The objects of the batch, and the key words of new entries, are being made durable. */
    FOR_OBJECTS,
    /** The words of some requests are being made durable. */
    FOR_WORDS
  }

  private Waits waits = Waits.FOR_NOTHING;
  private PublishRequest[] batch;
  private int count;

  /**
   * Each request before this index has its outcome, or its word is stored but may not be durable.
   */
  private int stored;

  /** Each request before this index has its outcome. */
  private int decided;

  /**
   * @param syncs waits for the device
   */
  public Publication(
      Tables tables,
      Insertion insertion,
      LogStore log,
      PendingWords pending,
      KeyWords keyWords,
      StoredObjects objects,
      LiveBytes live,
      PutCounts counts,
      int keyBytesMax,
      Syncs syncs) {
    this.tables = tables;
    this.insertion = insertion;
    this.log = log;
    this.pending = pending;
    this.keyWords = keyWords;
    this.objects = objects;
    this.live = live;
    this.counts = counts;
    this.loads = new LoadAhead(tables, log);
    this.keyBytesMax = keyBytesMax;
    this.syncs = syncs;
  }

  /**
   * Begins to publish the first {@code ofThem} requests in order. They belong to the publication
   * until {@link #advance} returns true, or throws. It sets the outcome of each; a request that is
   * OK is as durable as the store promises. REQUIRES: no batch is under way.
   */
  public void begin(PublishRequest[] requests, int ofThem) {
    assert waits == Waits.FOR_NOTHING : "a batch that waits " + waits;
    batch = requests;
    count = ofThem;
    stored = 0;
    decided = 0;
    beginWithObjects();
    if (count > 1) {
      loads.replaced(batch, count);
    }
    if (!syncs.isAtOnce()) {
      stageKeys();
    }
    syncs.begin();
    waits = Waits.FOR_OBJECTS;
  }

  /**
   * Goes on with the batch until it must wait.
   *
   * @return whether it is done: every request has its outcome
   */
  public boolean advance() {
    boolean failed = true;
    try {
      while (waits != Waits.FOR_NOTHING && syncs.isDone()) {
        if (waits == Waits.FOR_OBJECTS) {
          tables.hold(false);
          claim();
        } else {
          commit();
        }
        storeWords();
      }
      failed = false;
    } finally {
      if (failed) {
        // The words that are still pending will not be decided by this batch.
        pending.allDecided();
        tables.hold(false);
        waits = Waits.FOR_NOTHING;
      }
    }
    return waits == Waits.FOR_NOTHING;
  }

  /**
   * Gives up the batch, if there is one. Its stores remain. Returns when the publication no longer
   * waits for a drain.
   */
  public void abandon() {
    waits = Waits.FOR_NOTHING;
    pending.allDecided();
    syncs.cancel();
    tables.hold(false);
  }

  /** How many requests of the batch have their outcome, counted from the first. */
  public int decided() {
    return decided;
  }

  /**
   * Claims the requests of each client, as the last check before words are stored. All slow steps
   * come before it, so that few puts are claimed when the server is stopped. The requests of a
   * client that has left are refused, because the client may have been told that they never take
   * effect.
   */
  private void claim() {
    Requester asked = null;
    boolean claimed = true;
    for (int i = 0; i < count; i++) {
      if (batch[i].result == Result.OK) {
        batch[i].stage = PublishRequest.Stage.DURABLE;
      }
      Requester requester = batch[i].requester;
      if (requester != asked) {
        asked = requester;
        claimed = requester == null || requester.claim();
      }
      if (!claimed && batch[i].result == Result.OK) {
        batch[i].result = Result.NO_RESERVATION;
      }
    }
  }

  /** Whether a request must still be done. Its client may have left since it was claimed. */
  private static boolean stillWanted(PublishRequest request) {
    if (request.result == Result.OK && request.requester != null && !request.requester.isThere()) {
      request.result = Result.NO_RESERVATION;
    }
    return request.result == Result.OK;
  }

  /**
   * Tells the log which objects are committed and durable, so that low-water marks can rise over
   * them. When words are first stored as pending, the store that commits a word is not drained with
   * its batch. An object whose word may be pending after a power failure must stay above the
   * low-water mark, because otherwise recovery would miss the object and its word would be rolled
   * back. So this drains first. Call it before an extent ends.
   */
  public void settle() {
    if (unsettled == 0) {
      return;
    }
    if (pending.pendingFirst()) {
      tables.drain();
    }
    for (int i = 0; i < unsettled; i++) {
      log.settle(unsettledExtents[i], unsettledPlaces[i]);
      unsettledExtents[i] = null;
    }
    unsettled = 0;
  }

  /** As {@link #settle()}, unless all publications in the extent are settled. */
  public void settle(Extent extent) {
    for (int i = 0; i < unsettled; i++) {
      if (unsettledExtents[i] == extent) {
        settle();
      }
    }
  }

  private void settleLater(Extent extent, long place) {
    if (unsettled == unsettledExtents.length) {
      settle();
    }
    unsettledExtents[unsettled] = extent;
    unsettledPlaces[unsettled] = place;
    unsettled++;
  }

  /**
   * Flushes and drains the objects. All objects are flushed before the first drain: where several
   * lie in one memory, the first drain covers them all, and the others cost almost nothing.
   */
  private void beginWithObjects() {
    if (count > 1) {
      loads.objects(batch, count);
    }
    for (int i = 0; i < count; i++) {
      PublishRequest request = batch[i];
      request.stage = PublishRequest.Stage.NEW;
      request.existed = false;
      request.result = check(request) ? Result.OK : Result.INVALID_OBJECT;
      if (request.result == Result.OK) {
        request.region().memory().flush(request.place, request.bytes);
      }
    }
    for (int i = 0; i < count; i++) {
      if (batch[i].result == Result.OK) {
        syncs.add(batch[i].region().memory());
      }
    }
  }

  /**
   * Stores the key words of keys without an entry, so that they become durable with the objects:
   * otherwise the server's thread would wait for each of them before it stores its version word. It
   * still waits for the key word of an insertion that has to displace other entries, or to wait for
   * a doubling.
   */
  private void stageKeys() {
    boolean any = false;
    for (int i = 0; i < count; i++) {
      PublishRequest request = batch[i];
      request.staged = Tables.NONE;
      if (request.result == Result.OK
          && !request.delete
          && !request.condition.wantsValue()
          && find(request) == Tables.NONE) {
        request.staged = tables.stage(request.keyWord);
        request.stagedIn = tables.insertsInto();
        any |= request.staged != Tables.NONE;
      }
    }
    if (any) {
      syncs.add(tables.insertsIntoMemory());
      tables.hold(true);
    }
  }

  private long find(PublishRequest request) {
    return tables.find(
        request.keyWord,
        objects.withKey(
            request.keyWord,
            request.region().memory().segment(),
            request.place + ObjectLayout.KEY_OFFSET,
            request.keyLength));
  }

  /** Whether the request has a staged entry in the table that insertions go to now. */
  private boolean isStaged(PublishRequest request) {
    return request.staged != Tables.NONE && request.stagedIn == tables.insertsInto();
  }

  /**
   * Whether the object at the place agrees with the request: it is whole, was written for this
   * position, and has a key that belongs to the head.
   */
  private boolean check(PublishRequest request) {
    if (request.checked) {
      return true;
    }
    Region region = request.region();
    MemorySegment memory = region.memory().segment();
    int mix = ObjectChecksum.positionMix(region.head(), region.generation(), request.offset);
    if (region.checksum().validBytes(request.place, request.bytes, mix) != request.bytes) {
      return false;
    }
    // Loaded once and bounded: later stores of a writer must not lead outside the object.
    int keyLength = ObjectLayout.keyLength(memory, request.place);
    if (keyLength == 0
        || ObjectLayout.bytes(keyLength, 0) > request.bytes
        || ObjectLayout.tombstone(memory, request.place) != request.delete
        || keyLength > keyBytesMax) {
      return false;
    }
    request.keyLength = keyLength;
    request.keyWord = keyWords.of(memory, request.place + ObjectLayout.KEY_OFFSET, keyLength);
    return Entry.headOf(request.keyWord) == region.head();
  }

  /**
   * Stores the words of the next requests, and begins to make these words durable. It stops before
   * a request that must wait until the words before it are committed. When no request is left the
   * batch is done.
   */
  private void storeWords() {
    while (stored < count && storeNext()) {
      stored++;
    }
    if (decided == stored) {
      end();
      return;
    }
    for (int i = decided; i < stored; i++) {
      if (batch[i].stage == PublishRequest.Stage.NAMED) {
        syncs.add(tables.memoryOf(batch[i].entry));
      }
    }
    syncs.begin();
    waits = Waits.FOR_WORDS;
  }

  /**
   * Stores the word of the next request, unless the request is refused.
   *
   * @return false when the requests before it have to be committed first
   */
  private boolean storeNext() {
    PublishRequest request = batch[stored];
    while (stillWanted(request) && !storeWord(request)) {
      if (decided < stored) {
        return false;
      }
      if (!insertion.makeRoom(request.keyWord)) {
        request.result = insertion.refusal(request.keyWord);
      }
    }
    return true;
  }

  private void end() {
    waits = Waits.FOR_NOTHING;
    for (int i = 0; i < count; i++) {
      if (isStaged(batch[i])) {
        tables.unstage(batch[i].staged, batch[i].keyWord);
      }
      batch[i].staged = Tables.NONE;
    }
    if (!pending.pendingFirst()) {
      settle();
    }
  }

  /** How an attempt to store a word ended. */
  private enum Attempt {
    /** The request has its outcome, or its word is stored. */
    DONE,
    /** A put of the same key in this batch is not committed yet, or there is no room. */
    LATER,
    /** Another writer has changed the word since it was looked up. */
    LOST
  }

  /**
   * Looks up the entry and stores its word. Another writer that comes in between, again and again,
   * delays this by {@link Tables#wordToChange} attempts.
   *
   * @return false when a put of the same key in this batch is not committed yet, or there is no
   *     room: commit the batch so far, then try again
   */
  private boolean storeWord(PublishRequest request) {
    assert request.stage == PublishRequest.Stage.DURABLE : request.stage;
    Attempt attempt = Attempt.LOST;
    for (int lost = 0; attempt == Attempt.LOST; lost++) {
      try {
        attempt = storeWord(request, lost);
      } finally {
        tables.unpin();
      }
    }
    return attempt == Attempt.DONE;
  }

  private Attempt storeWord(PublishRequest request, int lost) {
    Region region = request.region();
    long entry = find(request);
    if (entry == Tables.NONE && request.condition.wantsValue()) {
      request.result = Result.CONFLICT;
      return Attempt.DONE;
    }
    if (entry == Tables.NONE) {
      return request.delete || insert(request) ? Attempt.DONE : Attempt.LATER;
    }
    long word = tables.wordToChange(entry, lost);
    if (pending.isLive(word)) {
      return Attempt.LATER;
    }
    request.result = request.condition.test(objects, region.head(), VersionWord.committed(word));
    if (request.result != Result.OK) {
      return Attempt.DONE;
    }
    request.existed = objects.isValue(region.head(), VersionWord.committed(word));
    if (request.delete && !request.existed && !VersionWord.pending(word)) {
      return Attempt.DONE;
    }
    long next = pending.over(word, request.offset);
    if (!tables.storeWord(entry, request.keyWord, word, next)) {
      return Attempt.LOST;
    }
    stored(request, entry);
    if (!pending.pendingFirst()) {
      count(request, VersionWord.committed(word));
    }
    return Attempt.DONE;
  }

  private boolean insert(PublishRequest request) {
    long word = pending.first(request.offset);
    boolean staged =
        isStaged(request) && tables.insertStaged(request.staged, request.keyWord, word);
    long entry = staged ? request.staged : insertion.insert(request.keyWord, word);
    if (entry == Tables.NONE) {
      return false;
    }
    stored(request, entry);
    if (!pending.pendingFirst()) {
      count(request, VersionWord.NONE);
    }
    return true;
  }

  private void stored(PublishRequest request, long entry) {
    request.stage = PublishRequest.Stage.NAMED;
    request.entry = entry;
    pending.stored();
  }

  /** Commits the requests whose words and objects are durable. */
  private void commit() {
    for (int i = decided; i < stored; i++) {
      PublishRequest request = batch[i];
      if (request.stage == PublishRequest.Stage.NAMED) {
        if (pending.pendingFirst()) {
          commitWord(request);
        }
        request.stage = PublishRequest.Stage.COMMITTED;
      }
      // This check precedes the answers to clients, and the settling of the extent: an object that
      // is not durable must not lie below a settled place.
      assert request.isDecided() : "acknowledged as " + request.stage;
      // The place of a refused request is settled too, unless its client published without a
      // message: that client gets the place back.
      if (request.result == Result.OK || !request.checked) {
        settleLater(request.extent, request.place + ObjectLayout.padded(request.bytes));
      }
    }
    decided = stored;
    pending.allDecided();
  }

  /**
   * Commits the word that names the request's object. The previous version may have been copied
   * since the word was stored, and then the word names the copy.
   */
  private void commitWord(PublishRequest request) {
    long word = tables.versionWord(request.entry);
    if (VersionWord.newest(word) != request.offset
        || !VersionWord.pending(word)
        || !pending.commit(request.entry, request.keyWord, word)) {
      throw new IllegalStateException(
          "pending entry "
              + request.entry
              + ", which named "
              + request.offset
              + ", changed before its commit: "
              + VersionWord.toString(word));
    }
    count(request, VersionWord.older(word));
  }

  /** Counts a put or delete that took effect. {@code before} is the previous version, or NONE. */
  private void count(PublishRequest request, int before) {
    int after = request.delete ? VersionWord.NONE : request.offset;
    live.replaced(request.entry, request.region().head(), before, after);
    counts.add(request.delete, request.bytes);
  }
}
