package io.erda.client.gets;

import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Connections;
import io.erda.client.connections.Counts;
import io.erda.client.connections.KnownStore;
import io.erda.client.connections.ReadSize;
import io.erda.client.connections.RegionMap;
import io.erda.client.connections.Session;
import io.erda.hashtable.Entry;
import io.erda.hashtable.Neighbourhood;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.ObjectLayout;
import io.erda.pmem.UncheckedMemory;
import io.erda.protocol.Root;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Work;

/**
 * A whole get in one call, for a device that READs within the call, and for the common case: there
 * is one table, the key is among the first entries of its neighbourhood, and one READ fetches its
 * whole object. It applies the rules of {@link Get}, and never concludes that a key is absent.
 */
final class DirectGet {
  static final long UNDECIDED = -1;

  /**
   * Entries of a neighbourhood that are READ first when a READ is a number of loads. With half of
   * the buckets taken most keys are among them; more would cost a further cache miss for each line.
   */
  private static final int NEAR = 4;

  static final int NEAR_BYTES = NEAR * Entry.BYTES;

  private final Connections connections;
  private final KnownStore store;
  private final ReadSize readSize;
  private final Counts counts;
  private final PrivateCopy copy;
  private final ObjectPlace place = new ObjectPlace();
  private final Work readEntries = Work.read();
  private final Work readRoot = Work.read();
  private final Work readObject = Work.read();

  DirectGet(ClientContext context, Connections connections, PrivateCopy copy) {
    this.connections = connections;
    this.store = context.store();
    this.readSize = context.readSize();
    this.counts = context.counts();
    this.copy = copy;
  }

  /**
   * Looks up the key of the copy, and reads its object into the copy.
   *
   * @return the length of its value, or {@link #UNDECIDED} when {@link Get} must do the get; no
   *     work is under way then
   */
  long run() {
    Session current = connections.readSession(false);
    if (current == null) {
      return UNDECIDED;
    }
    long wanted = copy.keyWord(store.keyHash, current.geometry.heads());
    RegionMap now = current.map;
    QueuePair queuePair = current.queuePair;
    long bucketAt = now.entriesOffset + Entry.bucket(wanted, now.buckets) * Entry.BYTES;
    if (now.nextTableKey != RegionMap.NONE
        || !queuePair.readNow(entries(now, bucketAt))
        || !queuePair.readNow(root(current))) {
      return UNDECIDED;
    }
    long root = copy.rootAt & UncheckedMemory.ADDRESS;
    if (Root.incarnation(UncheckedMemory.ALL, root) != now.incarnation
        || Root.epoch(UncheckedMemory.ALL, root) != now.epoch) {
      return UNDECIDED;
    }
    current.counterSeen = Root.structureCounter(UncheckedMemory.ALL, root);
    int committed = committedOf(wanted, current.announces());
    return committed == VersionWord.NONE
        ? UNDECIDED
        : valueLength(current, now, Entry.headOf(wanted), committed);
  }

  /**
   * Returns the offset in the first entry with the key word {@code wanted}, among the entries that
   * were READ; NONE when there is no such entry, or its committed version is not known.
   *
   * @param announces whether puts announce first: then a pending word is undecided until its newest
   *     version is examined
   */
  int committedOf(long wanted, boolean announces) {
    long near = copy.neighbourhoodAt & UncheckedMemory.ADDRESS;
    for (int i = 0; i < NEAR; i++) {
      if (Neighbourhood.keyWord(UncheckedMemory.ALL, near, 0) == wanted) {
        long word = Neighbourhood.versionWord(UncheckedMemory.ALL, near, 0);
        return VersionWord.pending(word) && announces
            ? VersionWord.NONE
            : VersionWord.committed(word);
      }
      near += Entry.BYTES;
    }
    return VersionWord.NONE;
  }

  // The steps of a get, which DirectGets runs for several gets.

  long keyWord(Session current) {
    return copy.keyWord(store.keyHash, current.geometry.heads());
  }

  /** READs the first entries of a neighbourhood. Returns whether that succeeded. */
  boolean readEntries(Session current, RegionMap now, long bucketAt) {
    return current.queuePair.readNow(entries(now, bucketAt));
  }

  private Work entries(RegionMap now, long bucketAt) {
    return readEntries
        .local(copy.region, PrivateCopy.NEIGHBOURHOOD, NEAR_BYTES)
        .remote(now.tableKey, bucketAt);
  }

  private Work root(Session current) {
    return readRoot
        .local(copy.region, PrivateCopy.ROOT, Root.LOOK_UP_BYTES)
        .remote(current.rootKey, 0);
  }

  /** READs the root, after all entries were READ. Returns whether the map is still current. */
  boolean readRoot(Session current, RegionMap now) {
    if (!current.queuePair.readNow(root(current))) {
      return false;
    }
    long root = copy.rootAt & UncheckedMemory.ADDRESS;
    if (Root.incarnation(UncheckedMemory.ALL, root) != now.incarnation
        || Root.epoch(UncheckedMemory.ALL, root) != now.epoch) {
      return false;
    }
    current.counterSeen = Root.structureCounter(UncheckedMemory.ALL, root);
    return true;
  }

  /**
   * READs the object at an offset. Returns the length of its value when it is whole and has the
   * key.
   */
  long valueLength(Session current, RegionMap now, int head, int at) {
    if (!place.find(current.geometry, now, head, at)) {
      return UNDECIDED;
    }
    int fetched = readSize.within(copy.objectCapacity, place.room);
    readObject.local(copy.region, PrivateCopy.OBJECT, fetched).remote(place.remoteKey, place.place);
    if (!current.queuePair.readNow(readObject)) {
      return UNDECIDED;
    }
    long found = copy.objectAt & UncheckedMemory.ADDRESS;
    long word = ObjectLayout.firstWord(UncheckedMemory.ALL, found);
    int keyLength = ObjectLayout.keyLength(UncheckedMemory.ALL, found);
    int bytes = ObjectLayout.plausibleBytes(word, keyLength, fetched);
    if (bytes == 0
        || ObjectLayout.tombstone(word)
        || !copy.isWhole(bytes, place.positionMix())
        || !copy.isKey()) {
      return UNDECIDED;
    }
    counts.getsNow++;
    readSize.met(ObjectLayout.padded(bytes));
    return (long) bytes - ObjectLayout.HEADER_BYTES - keyLength;
  }
}
