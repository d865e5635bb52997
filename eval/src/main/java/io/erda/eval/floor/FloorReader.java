package io.erda.eval.floor;

import io.erda.hashtable.Entry;
import io.erda.hashtable.HashTable;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.pmem.Backing;
import io.erda.pmem.MappedDirectory;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;

/**
 * The least work of a get: copy the neighbourhood, find the entry, copy the object it names, check
 * its CRC32C. No root, no incarnation, no key, no queue pair. On the store's own files, mapped
 * read-only, while its server serves them. One thread.
 */
public final class FloorReader implements AutoCloseable {
  private static final int NEIGHBOURHOOD_BYTES = HashTable.neighbourhood() * Entry.BYTES;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment table;
  private final MemorySegment[][] regions;
  private final int[][] generations;
  private final LogGeometry geometry;
  private final long buckets;
  private final MemorySegment scratch;
  private final ObjectChecksum checksum;
  private long lastEnd;

  private FloorReader(Layout layout, int objectBytesMax) throws IOException {
    this.geometry = layout.geometry;
    this.buckets = layout.buckets;
    this.table = map(layout.table);
    this.regions = new MemorySegment[layout.regions.length][];
    this.generations = layout.generations;
    for (int head = 0; head < regions.length; head++) {
      regions[head] = new MemorySegment[layout.regions[head].length];
      for (int index = 0; index < regions[head].length; index++) {
        regions[head][index] = map(layout.regions[head][index]);
      }
    }
    this.scratch = arena.allocate(NEIGHBOURHOOD_BYTES + ObjectLayout.padded(objectBytesMax), 64);
    this.checksum = new ObjectChecksum(scratch);
  }

  /**
   * The places of a store's objects. Found while no server has it open; valid until the store is
   * written.
   */
  public static final class Layout {
    private final LogGeometry geometry;
    private final long buckets;
    private final Backing table;
    private final Backing[][] regions;
    private final int[][] generations;
    private final long[] keyWords;

    private Layout(StoreEngine engine, MemorySegment[] keys) {
      this.geometry = engine.log().geometry();
      this.buckets = engine.tables().buckets();
      this.table = engine.tables().memory().backing();
      this.regions = new Backing[geometry.heads()][];
      this.generations = new int[geometry.heads()][];
      for (int head = 0; head < regions.length; head++) {
        int thisHead = head;
        Region[] linked =
            engine.log().regions().stream()
                .filter(region -> region.head() == thisHead)
                .toArray(Region[]::new);
        regions[head] = new Backing[linked.length];
        generations[head] = new int[linked.length];
        for (Region region : linked) {
          regions[head][region.index()] = region.memory().backing();
          generations[head][region.index()] = region.generation();
        }
      }
      this.keyWords = new long[keys.length];
      for (int i = 0; i < keys.length; i++) {
        keyWords[i] = engine.keyWord(keys[i], 0, (int) keys[i].byteSize());
      }
    }

    /** Opens the store in {@code data}, which no server has open, and finds the places. */
    static Layout of(Path data, MemorySegment[] keys) throws IOException {
      try (MappedDirectory directory =
          MappedDirectory.open(data, MappedDirectory.Mode.PAGE_CACHE)) {
        if (!directory.lock()) {
          throw new IOException("store is in use: " + data);
        }
        try (StoreEngine engine = StoreOpening.open(directory, null, new SecureRandom())) {
          return new Layout(engine, keys);
        }
      }
    }

    /** The key words of the given keys. */
    public long[] keyWords() {
      return keyWords;
    }
  }

  public static FloorReader open(Layout layout, int objectBytesMax) throws IOException {
    return new FloorReader(layout, objectBytesMax);
  }

  /**
   * Reads an object.
   *
   * @return its bytes, or -1 when it is not there or not whole
   */
  public int read(long keyWord) {
    long from = HashTable.entriesOffset() + Entry.bucket(keyWord, buckets) * Entry.BYTES;
    MemorySegment.copy(table, from, scratch, 0, NEIGHBOURHOOD_BYTES);
    for (int at = 0; at < NEIGHBOURHOOD_BYTES; at += Entry.BYTES) {
      if (Entry.keyWordAt(scratch, at) == keyWord) {
        return readObject(
            Entry.headOf(keyWord), VersionWord.committed(Entry.versionWordAt(scratch, at)));
      }
    }
    return -1;
  }

  /** The last eight bytes of the last object read. */
  long lastWord() {
    return scratch.get(ValueLayout.JAVA_LONG_UNALIGNED, lastEnd - Long.BYTES);
  }

  private int readObject(int head, int offset) {
    int index = geometry.regionIndex(offset);
    MemorySegment region = regions[head][index];
    long place = geometry.place(offset);
    int bytes =
        ObjectLayout.bytes(
            ObjectLayout.keyLength(region, place), ObjectLayout.valueLength(region, place));
    MemorySegment.copy(region, place, scratch, NEIGHBOURHOOD_BYTES, ObjectLayout.padded(bytes));
    lastEnd = (long) NEIGHBOURHOOD_BYTES + bytes;
    int mix = ObjectChecksum.positionMix(head, generations[head][index], offset);
    return checksum.compute(NEIGHBOURHOOD_BYTES, bytes, mix)
            == ObjectLayout.checksum(scratch, NEIGHBOURHOOD_BYTES)
        ? bytes
        : -1;
  }

  private MemorySegment map(Backing backing) throws IOException {
    try (FileChannel channel = FileChannel.open(backing.file(), StandardOpenOption.READ)) {
      return channel.map(FileChannel.MapMode.READ_ONLY, backing.offset(), backing.length(), arena);
    }
  }

  @Override
  public void close() {
    arena.close();
  }
}
