package io.erda.server.engine;

import io.erda.cleaner.LiveBytes;
import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.Extent;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.protocol.Result;
import java.lang.foreign.MemorySegment;

/**
 * The one publication point (rule 5): data, flush, drain, word, flush, drain.
 *
 * <p>A put goes through stages, see {@link PublishRequest.Stage}. Its object is made durable; the
 * last look says whether its client is still there; the entry's word names it; that is made
 * durable; it is committed, and then the caller answers. Where what is visible may still be lost,
 * the word is stored pending, and the committing store linearizes the put. Between the two whoever
 * else has to agree would be asked: today that is nobody, so no put is pending for longer than its
 * batch. Elsewhere the word is stored once.
 *
 * <p>A batch of puts and deletes is published together, so that a slow drain is paid once for all
 * of them. No allocation.
 */
final class Publication {
  /**
   * Publications after which the low-water mark is brought up to date at the latest: what recovery
   * has to look at more.
   */
  private static final int UNSETTLED_MAX = 1024;

  private final Tables tables;
  private final Insertion insertion;
  private final LogStore log;
  private final PendingWords pending;
  private final KeyWords keyWords;
  private final EntrySearch search;
  private final StoredObjects objects;
  private final LiveBytes live;
  private final PutCounts counts;
  private final int keyBytesMax;

  private final Extent[] unsettledExtents = new Extent[UNSETTLED_MAX];
  private final long[] unsettledPlaces = new long[UNSETTLED_MAX];
  private int unsettled;

  Publication(
      Tables tables,
      Insertion insertion,
      LogStore log,
      PendingWords pending,
      KeyWords keyWords,
      EntrySearch search,
      StoredObjects objects,
      LiveBytes live,
      PutCounts counts,
      int keyBytesMax) {
    this.tables = tables;
    this.insertion = insertion;
    this.log = log;
    this.pending = pending;
    this.keyWords = keyWords;
    this.search = search;
    this.objects = objects;
    this.live = live;
    this.counts = counts;
    this.keyBytesMax = keyBytesMax;
  }

  /**
   * Publishes {@code count} requests in order and sets the outcome of each. After it, what is OK is
   * as durable as the store promises.
   */
  void publish(PublishRequest[] batch, int count) {
    try {
      publishInStages(batch, count);
    } finally {
      // Where it failed, nobody is going to decide the words that are still pending.
      pending.allDecided();
    }
  }

  private void publishInStages(PublishRequest[] batch, int count) {
    makeDataDurable(batch, count);
    claim(batch, count);
    int committed = 0;
    for (int i = 0; i < count; i++) {
      if (stillWanted(batch[i]) && !storeWord(batch[i])) {
        commit(batch, committed, i);
        committed = i;
        while (stillWanted(batch[i]) && !storeWord(batch[i])) {
          if (!insertion.makeRoom()) {
            batch[i].result = insertion.refusal();
            break;
          }
        }
      }
    }
    commit(batch, committed, count);
    for (int i = 0; i < count; i++) {
      assert batch[i].isDecided() : "acknowledged as " + batch[i].stage;
      settleLater(batch[i].extent, batch[i].place + ObjectLayout.padded(batch[i].bytes));
    }
    if (!pending.pendingFirst()) {
      settle();
    }
  }

  /**
   * The last look before words are stored, once for each client: behind everything that may take
   * long, so that few puts are in the server's hands when it is stopped. A client that left may
   * have been told that its put never takes effect.
   */
  private static void claim(PublishRequest[] batch, int count) {
    Requester asked = null;
    boolean claimed = true;
    for (int i = 0; i < count; i++) {
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

  /** Whether a request is to be done: its client may have left since it was claimed. */
  private static boolean stillWanted(PublishRequest request) {
    if (request.result == Result.OK && request.requester != null && !request.requester.isThere()) {
      request.result = Result.NO_RESERVATION;
    }
    return request.result == Result.OK;
  }

  /**
   * Lets the log know what is committed and durable. Where words are pending first, a committing
   * store is not drained with its batch: an object whose word may still turn out pending after a
   * power failure has to stay above the low-water mark, or recovery would not look at it and it
   * would be rolled back. So settling waits for the next drain; call this before an extent ends.
   */
  void settle() {
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

  private void settleLater(Extent extent, long place) {
    if (unsettled == unsettledExtents.length) {
      settle();
    }
    unsettledExtents[unsettled] = extent;
    unsettledPlaces[unsettled] = place;
    unsettled++;
  }

  /**
   * Everything is flushed before anything is drained: of a memory that has nothing left, a drain
   * costs next to nothing.
   */
  private void makeDataDurable(PublishRequest[] batch, int count) {
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
        batch[i].region().memory().drain();
        batch[i].stage = PublishRequest.Stage.DURABLE;
      }
    }
  }

  /**
   * Whether what lies at the place is what the request says: whole, of this position, with a key
   * that belongs to the head.
   */
  private boolean check(PublishRequest request) {
    Region region = request.region();
    MemorySegment memory = region.memory().segment();
    int mix = ObjectChecksum.positionMix(region.head(), region.generation(), request.offset);
    if (region.checksum().validBytes(request.place, request.bytes, mix) != request.bytes) {
      return false;
    }
    // Loaded once and bounded: nothing that a writer stores after its publication may lead out of
    // the object.
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
   * Looks the entry up and stores its word, in one step.
   *
   * @return false when a live word is in the way, or there is no room: commit the batch so far,
   *     then ask again
   */
  private boolean storeWord(PublishRequest request) {
    assert request.stage == PublishRequest.Stage.DURABLE : request.stage;
    Region region = request.region();
    long entry =
        search.find(
            request.keyWord,
            region.memory().segment(),
            request.place + ObjectLayout.KEY_OFFSET,
            request.keyLength);
    if (entry == Tables.NONE && request.condition.wantsValue()) {
      request.result = Result.CONFLICT;
      return true;
    }
    if (entry == Tables.NONE) {
      return request.delete || insert(request);
    }
    long word = tables.versionWord(entry);
    if (pending.isLive(word)) {
      return false;
    }
    request.result = request.condition.test(objects, region.head(), VersionWord.committed(word));
    if (request.result != Result.OK) {
      return true;
    }
    request.existed = objects.isValue(region.head(), VersionWord.committed(word));
    if (request.delete && !request.existed && !VersionWord.pending(word)) {
      return true;
    }
    long next = pending.over(word, request.offset);
    if (!tables.storeWord(entry, request.keyWord, word, next)) {
      throw new IllegalStateException("entry " + entry + " changed under its only writer");
    }
    stored(request, entry, next, VersionWord.committed(word));
    return true;
  }

  private boolean insert(PublishRequest request) {
    long word = pending.first(request.offset);
    long entry = insertion.insert(request.keyWord, word);
    if (entry == Tables.NONE) {
      return false;
    }
    stored(request, entry, word, VersionWord.NONE);
    return true;
  }

  private void stored(PublishRequest request, long entry, long word, int before) {
    request.stage = PublishRequest.Stage.NAMED;
    request.entry = entry;
    request.word = word;
    int after = request.delete ? VersionWord.NONE : request.offset;
    live.replaced(entry, request.region().head(), before, after);
    pending.stored();
    counts.add(request.delete, request.bytes);
  }

  /**
   * What is named is durable, and committed. Whoever else must agree is asked between the two: what
   * its word names is durable here.
   */
  private void commit(PublishRequest[] batch, int from, int to) {
    tables.drain();
    for (int i = from; i < to; i++) {
      PublishRequest request = batch[i];
      if (request.stage == PublishRequest.Stage.NAMED) {
        if (pending.pendingFirst()) {
          commitWord(request);
        }
        request.stage = PublishRequest.Stage.COMMITTED;
      }
    }
    pending.allDecided();
  }

  private void commitWord(PublishRequest request) {
    if (!pending.commit(request.entry, request.keyWord, request.word)) {
      throw new IllegalStateException(
          "pending entry " + request.entry + " changed before its commit");
    }
  }
}
