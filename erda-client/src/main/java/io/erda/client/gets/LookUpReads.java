package io.erda.client.gets;

import io.erda.client.connections.RegionMap;
import io.erda.client.connections.Session;
import io.erda.hashtable.Entry;
import io.erda.hashtable.Neighbourhood;
import io.erda.protocol.Root;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Work;

/**
 * The READs of one look-up, which are posted together: the key's neighbourhood; the guessed place
 * of the object, or the neighbourhood of the larger table while there are two; and the root. Only
 * the READ of the root reports its success. It is posted last, so all READs are complete then.
 *
 * <p>When the queue pair has no room, the remaining READs are posted later.
 */
final class LookUpReads {
  private static final int NEIGHBOURHOOD = 0;
  private static final int SECOND = 1;
  private static final int ROOT = 2;

  private final PrivateCopy copy;
  private final Work readRoot = Work.read().signaled();

  /** READs the other neighbourhood, or the object. */
  private final Work readOther = Work.read();

  private ObjectPlace guess;
  private int guessBytes;
  private int next;

  LookUpReads(PrivateCopy copy) {
    this.copy = copy;
  }

  /**
   * Begins a look-up.
   *
   * @param thought the guessed place of the object; null when there is no guess
   * @param bytes the number of bytes to READ there
   */
  void begin(ObjectPlace thought, int bytes) {
    guess = thought;
    guessBytes = bytes;
    next = NEIGHBOURHOOD;
  }

  /** Posts the remaining READs. Returns whether all are posted. */
  boolean post(Session session, RegionMap map, long keyWord, long wrId) {
    QueuePair queuePair = session.queuePair;
    if (next == NEIGHBOURHOOD) {
      if (!postTable(
          queuePair, wrId, PrivateCopy.NEIGHBOURHOOD, map, map.tableKey, map.buckets, keyWord)) {
        return false;
      }
      next = SECOND;
    }
    if (next == SECOND) {
      if (!postSecond(queuePair, map, keyWord, wrId)) {
        return false;
      }
      next = ROOT;
    }
    return queuePair.post(
        readRoot
            .id(wrId)
            .local(copy.region, PrivateCopy.ROOT, Root.LOOK_UP_BYTES)
            .remote(session.rootKey, 0));
  }

  private boolean postSecond(QueuePair queuePair, RegionMap map, long keyWord, long wrId) {
    if (map.nextTableKey != RegionMap.NONE) {
      return postTable(
          queuePair, wrId, PrivateCopy.NEXT, map, map.nextTableKey, map.nextBuckets, keyWord);
    }
    return guess == null
        || queuePair.post(
            readOther
                .id(wrId)
                .local(copy.region, PrivateCopy.OBJECT, guessBytes)
                .remote(guess.remoteKey, guess.place));
  }

  private boolean postTable(
      QueuePair queuePair,
      long wrId,
      long into,
      RegionMap map,
      long tableKey,
      long buckets,
      long keyWord) {
    return queuePair.post(
        readOther
            .id(wrId)
            .local(copy.region, into, Neighbourhood.BYTES)
            .remote(tableKey, map.entriesOffset + Entry.bucket(keyWord, buckets) * Entry.BYTES));
  }
}
