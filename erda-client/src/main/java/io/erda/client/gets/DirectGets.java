package io.erda.client.gets;

import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Connections;
import io.erda.client.connections.ReadSize;
import io.erda.client.connections.RegionMap;
import io.erda.client.connections.Session;
import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.rdma.QueuePair;

/**
 * Several gets in one call, for a device that READs within the call: each step of {@link DirectGet}
 * is done for all of them before the next step. A get is two cache misses of which the second
 * depends on the first, but misses of different keys are independent. So before each step the
 * device is told all places that the step READs, and the misses overlap.
 *
 * <p>One READ of the root serves all gets: it executes after all neighbourhoods, as each get
 * requires.
 */
public final class DirectGets {
  private final Connections connections;
  private final ReadSize readSize;
  private final ObjectPlace place = new ObjectPlace();

  // Arrays by get. A get for which no committed version was found is skipped in later steps.
  private final long[] keyWords;
  private final int[] committed;

  // Arrays by READ of the next step. The READs of objects are only those of gets that are not
  // skipped.
  private final long[] remoteKeys;
  private final long[] offsets;

  /**
   * @param max how many gets there are at most
   */
  public DirectGets(ClientContext context, Connections connections, int max) {
    this.connections = connections;
    this.readSize = context.readSize();
    keyWords = new long[max];
    committed = new int[max];
    remoteKeys = new long[max];
    offsets = new long[max];
  }

  /**
   * Looks up the keys of the first {@code count} gets. Leaves in each the length of its value, with
   * the object in its copy, or {@link DirectGet#UNDECIDED} when the get must go on by itself.
   *
   * @return how many are decided
   */
  public int run(Get[] gets, int count) {
    for (int i = 0; i < count; i++) {
      gets[i].length = DirectGet.UNDECIDED;
    }
    Session current = connections.readSession(false);
    if (current == null || current.map.nextTableKey != RegionMap.NONE) {
      return 0;
    }
    RegionMap now = current.map;
    return readEntries(gets, count, current, now) && gets[0].direct().readRoot(current, now)
        ? readObjects(gets, count, current, now)
        : 0;
  }

  private boolean readEntries(Get[] gets, int count, Session current, RegionMap now) {
    QueuePair queuePair = current.queuePair;
    for (int i = 0; i < count; i++) {
      long wanted = gets[i].direct().keyWord(current);
      keyWords[i] = wanted;
      remoteKeys[i] = now.tableKey;
      offsets[i] = now.entriesOffset + Entry.bucket(wanted, now.buckets) * Entry.BYTES;
    }
    queuePair.readSoon(remoteKeys, offsets, DirectGet.NEAR_BYTES, count);
    for (int i = 0; i < count; i++) {
      if (!gets[i].direct().readEntries(current, now, offsets[i])) {
        return false;
      }
    }
    return true;
  }

  private int readObjects(Get[] gets, int count, Session current, RegionMap now) {
    int places = 0;
    for (int i = 0; i < count; i++) {
      int at = gets[i].direct().committedOf(keyWords[i], current.announces());
      committed[i] = at;
      if (at != VersionWord.NONE
          && place.find(current.geometry, now, Entry.headOf(keyWords[i]), at)) {
        remoteKeys[places] = place.remoteKey;
        offsets[places++] = place.place;
      }
    }
    current.queuePair.readSoon(remoteKeys, offsets, readSize.bytes(), places);
    int decided = 0;
    for (int i = 0; i < count; i++) {
      if (committed[i] != VersionWord.NONE) {
        long length =
            gets[i].direct().valueLength(current, now, Entry.headOf(keyWords[i]), committed[i]);
        gets[i].length = length;
        decided += length >= 0 ? 1 : 0;
      }
    }
    return decided;
  }
}
