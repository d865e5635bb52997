package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.Entry;
import io.erda.hashtable.HashTable;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.Extent;
import io.erda.logstore.LeaseResult;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.ObjectWriter;
import io.erda.logstore.Region;
import io.erda.pmem.Creation;
import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.server.engine.tables.Tables;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * Another writer, beside the server: between any two stores of the server it updates or deletes
 * keys that have a value, by a compare-and-swap of their words, with objects in places that it has
 * leased. Its fences are ideal: it knows at each moment which of its extents are open, and whether
 * the table is being resized. It checks that no value that it finds is older than the newest one.
 */
final class OtherCommitter {
  private static final int LEASED_BYTES = 4096;
  private static final int OBJECT_BYTES = 1000;

  private final RandomGenerator random;

  /** The values of all keys; no value of a key that was deleted. */
  final Map<String, byte[]> values = new HashMap<>();

  /** The key that the server changes now; null when there is none. */
  private String changing;

  /** The value that the server stores for this key; null when it deletes the key. */
  private byte[] change;

  /** Whether the server's change of this key was seen. */
  private boolean changed;

  private final List<Extent> extents = new ArrayList<>();
  private final Map<Extent, Long> appended = new HashMap<>();
  private StoreHarness store;

  /** One of so many of the server's stores is preceded by an attempt; 0: none. */
  private int oneOf;

  /** The key that all attempts are about; null for all keys alike. */
  private String hot;

  private boolean acting;
  long commits;
  private long commitsBefore;

  OtherCommitter(RandomGenerator random) {
    this.random = random;
  }

  /** Returns a directory in whose memories this writer comes between stores. */
  MemoryDirectory between(MemoryDirectory directory) {
    return new Between(directory);
  }

  /** Begins to write, before one of so many of the server's stores. */
  void begin(StoreHarness harness, int oneOfStores) {
    store = harness;
    oneOf = oneOfStores;
    harness.engine.tables().share();
  }

  void hot(String key) {
    hot = key;
  }

  /** Stops writing, and ends what it has leased. */
  void stop() {
    oneOf = 0;
    List.copyOf(extents).forEach(this::end);
  }

  /** Forgets a server that has died, with all leases. */
  void forget() {
    oneOf = 0;
    store = null;
    extents.clear();
    appended.clear();
  }

  /** Leases a place in each head that has none. The server does nothing else meanwhile. */
  void lease() {
    for (int head = 0; head < store.engine.log().geometry().heads(); head++) {
      int of = head;
      extents.stream()
          .filter(e -> e.region().head() == of)
          .filter(this::isUsed)
          .toList()
          .forEach(this::end);
      if (extents.stream().noneMatch(e -> e.region().head() == of)
          && store.engine.log().lease(head, OBJECT_BYTES, LEASED_BYTES)
              instanceof LeaseResult.Leased leased) {
        extents.add(leased.extent());
        appended.put(leased.extent(), leased.extent().place());
      }
    }
  }

  private boolean isUsed(Extent extent) {
    return extent.end() - appended.get(extent) < OBJECT_BYTES;
  }

  /** Ends the extents in a region, for the cleaner. */
  void end(Region region) {
    extents.stream().filter(e -> e.region() == region).toList().forEach(this::end);
  }

  private void end(Extent extent) {
    extents.remove(extent);
    store.engine.log().settle(extent, appended.remove(extent));
    store.engine.log().end(extent);
  }

  // Methods by which a test says which key the server changes.

  /** The server begins to change a key. */
  void changes(String key, byte[] value) {
    changing = key;
    change = value;
    changed = false;
    commitsBefore = commits;
  }

  /** How many commits came while the server changed the last key. */
  long commitsMeanwhile() {
    return commits - commitsBefore;
  }

  /** The change was done, or had no effect. Returns the value that the key must have now. */
  byte[] ended(boolean done) {
    if (done && !changed) {
      set(changing, change);
    }
    byte[] now = values.get(changing);
    changing = null;
    return now;
  }

  /**
   * After a server has died: its change may have been done or not. It was done when the store,
   * opened again, has its value.
   */
  void settle(StoreHarness opened) {
    if (changing != null) {
      byte[] found = opened.get(changing);
      if (!changed && Arrays.equals(found, change)) {
        set(changing, change);
      }
      changing = null;
    }
    values.forEach((key, value) -> assertArrayEquals(value, opened.get(key), key));
    acting = false;
  }

  private void set(String key, byte[] value) {
    if (value == null) {
      values.remove(key);
    } else {
      values.put(key, value);
    }
  }

  // Between two stores.

  private void act() {
    if (mayAct()) {
      act(hot == null ? "key" + random.nextInt(1 + values.size()) : hot);
    }
  }

  private boolean mayAct() {
    return oneOf != 0 && !acting && random.nextInt(oneOf) == 0;
  }

  private void act(String key) {
    acting = true;
    try {
      commit(key);
    } finally {
      acting = false;
    }
  }

  /** Comes before a swap of the server, most often with a swap of the same word. */
  private void actBeforeSwap(PersistentMemory memory, long offset) {
    if (hot != null || random.nextInt(4) == 0) {
      act();
      return;
    }
    Tables tables = store == null ? null : store.engine.tables();
    if (tables == null || !mayAct() || tables.current().memory() != memory) {
      return;
    }
    HashTable table = tables.current().table();
    long slot = (offset - HashTable.entriesOffset()) / Entry.BYTES;
    int newest = VersionWord.newest(table.versionWord(slot));
    if (newest != VersionWord.NONE) {
      act(keyOf(Entry.headOf(table.keyWord(slot)), newest));
    }
  }

  private String keyOf(int head, int offset) {
    Region region = store.engine.log().region(head, offset);
    MemorySegment object = region.memory().segment();
    long place = store.engine.log().geometry().place(offset);
    byte[] key = new byte[ObjectLayout.keyLength(object, place)];
    MemorySegment.copy(
        object, ValueLayout.JAVA_BYTE, place + ObjectLayout.KEY_OFFSET, key, 0, key.length);
    return new String(key);
  }

  private void commit(String key) {
    Tables tables = store.engine.tables();
    if (tables.next() != null) {
      return;
    }
    byte[] keyBytes = key.getBytes();
    long keyWord = store.engine.keyWord(MemorySegment.ofArray(keyBytes), 0, keyBytes.length);
    HashTable table = tables.current().table();
    long slot = table.find(keyWord, (_, word) -> isOf(keyBytes, keyWord, VersionWord.newest(word)));
    if (slot == HashTable.NONE) {
      return;
    }
    long word = table.versionWord(slot);
    byte[] found = store.get(key);
    if (VersionWord.pending(word) || found == null) {
      return;
    }
    look(key, found);
    byte[] value = new byte[random.nextInt(hot == null ? 900 : 16)];
    random.nextBytes(value);
    value = random.nextInt(16) == 0 && hot == null ? null : value;
    Extent extent = extentFor(Entry.headOf(keyWord), keyBytes, value);
    if (extent == null) {
      return;
    }
    int offset = write(extent, keyBytes, value);
    long next = VersionWord.update(word, offset, false);
    long at = HashTable.entriesOffset() + slot * Entry.BYTES + Entry.VERSION_WORD_OFFSET;
    assertTrue(tables.memoryOf(slot).compareAndSetLong(at, word, next));
    store
        .writer
        .live()
        .replaced(
            slot,
            Entry.headOf(keyWord),
            VersionWord.newest(word),
            value == null ? VersionWord.NONE : offset);
    commits++;
    set(key, value);
  }

  /** A value was found, which must be the newest one, or the one that the server stores now. */
  private void look(String key, byte[] found) {
    boolean isChange = key.equals(changing) && !changed && Arrays.equals(found, change);
    if (isChange && !Arrays.equals(found, values.get(key))) {
      changed = true;
      set(key, found);
    }
    assertArrayEquals(values.get(key), found, () -> "an older value of " + key);
  }

  private boolean isOf(byte[] key, long keyWord, int offset) {
    if (offset == VersionWord.NONE) {
      return false;
    }
    Region region = store.engine.log().region(Entry.headOf(keyWord), offset);
    return ObjectLayout.keyEquals(
        region.memory().segment(),
        store.engine.log().geometry().place(offset),
        MemorySegment.ofArray(key),
        0,
        key.length);
  }

  private Extent extentFor(int head, byte[] key, byte[] value) {
    int bytes =
        ObjectLayout.padded(ObjectLayout.bytes(key.length, value == null ? 0 : value.length));
    return extents.stream()
        .filter(e -> e.region().head() == head && e.end() - appended.get(e) >= bytes)
        .findFirst()
        .orElse(null);
  }

  /** Writes an object to the next place of an extent. Returns its offset. */
  private int write(Extent extent, byte[] key, byte[] value) {
    Region region = extent.region();
    long place = appended.get(extent);
    int offset = store.engine.log().geometry().offset(region.index(), place);
    byte[] bytes = value == null ? new byte[0] : value;
    int length = ObjectLayout.padded(ObjectLayout.bytes(key.length, bytes.length));
    MemorySegment object = Arena.ofAuto().allocate(length, 8);
    new ObjectWriter(object)
        .write(
            0,
            MemorySegment.ofArray(key),
            0,
            key.length,
            MemorySegment.ofArray(bytes),
            0,
            bytes.length,
            value == null,
            ObjectChecksum.positionMix(region.head(), region.generation(), offset));
    region.memory().put(place, object, 0, length);
    appended.put(extent, place + length);
    return offset;
  }

  private final class Between extends ForwardingDirectory {
    Between(MemoryDirectory directory) {
      super(directory);
    }

    @Override
    protected PersistentMemory wrap(String name, PersistentMemory memory) {
      return new BetweenStores(memory);
    }

    @Override
    public Creation creating(String name, long length) throws IOException {
      act();
      return super.creating(name, length);
    }

    @Override
    public void rename(String from, String to) throws IOException {
      act();
      super.rename(from, to);
    }
  }

  private final class BetweenStores extends ForwardingMemory {
    BetweenStores(PersistentMemory memory) {
      super(memory);
    }

    @Override
    public void put(long offset, MemorySegment source, long sourceOffset, long length) {
      act();
      super.put(offset, source, sourceOffset, length);
    }

    @Override
    public void putLongRelease(long offset, long value) {
      act();
      super.putLongRelease(offset, value);
    }

    @Override
    public boolean compareAndSetLong(long offset, long expected, long value) {
      // The server takes a lock within nanoseconds of the load before it. A writer that starves the
      // server comes between a look-up and its store, which is a hundred times as long.
      if (hot == null || !VersionWord.isLocked(value)) {
        actBeforeSwap(this, offset);
      }
      return super.compareAndSetLong(offset, expected, value);
    }

    @Override
    public void flush(long offset, long length) {
      act();
      super.flush(offset, length);
    }

    @Override
    public void drain() {
      act();
      super.drain();
    }
  }
}
