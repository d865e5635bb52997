package io.erda.server.engine;

import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.logstore.WholeObjects;
import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import io.erda.protocol.Result;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import io.erda.server.engine.tables.StoredObjects;
import io.erda.server.engine.tables.Tables;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * A store for faults to be made in: its files, what they were at an earlier stop, and what every
 * key holds.
 *
 * @param stopped whether it was stopped cleanly
 * @param values by key; null: it was deleted
 * @param versions by key, every object of it that lies whole in the log
 */
record FaultedStore(
    String name,
    boolean stopped,
    Map<String, byte[]> files,
    Map<String, byte[]> older,
    Map<String, byte[]> values,
    Map<String, List<Version>> versions) {
  /** Small, so that a fault costs little: two heads, 16 regions of 64 KiB, tables of 64 buckets. */
  static final StoreGeometry OPTIONS = new StoreGeometry(new LogGeometry(2, 1 << 16, 4096, 16), 64);

  private static final int KEYS = 40;

  /**
   * An object of a key.
   *
   * @param generation of its region; with {@code place}, what lies behind what
   * @param value null for a tombstone
   */
  record Version(int generation, long place, byte[] value) {
    boolean isBehind(Version other) {
      return generation == other.generation ? place > other.place : generation > other.generation;
    }
  }

  /** One of each kind. */
  static List<FaultedStore> all(long seed) throws IOException {
    return List.of(stopped(seed), killed(seed), inCleaning(seed), inDoubling(seed));
  }

  static FaultedStore stopped(long seed) throws IOException {
    Building building = new Building(seed, Survives.PROCESS_CRASH);
    building.begin();
    building.put(3 * KEYS);
    building.store.close();
    return building.done("stopped cleanly", true);
  }

  /** With the longer way of publication, and an object that was written and never published. */
  private static FaultedStore killed(long seed) throws IOException {
    Building building = new Building(seed + 1, Survives.POWER_FAILURE);
    building.begin();
    building.put(3 * KEYS);
    building.store.add("never published", new byte[77]);
    return building.done("killed", false);
  }

  private static FaultedStore inCleaning(long seed) throws IOException {
    Building building = new Building(seed + 2, Survives.PROCESS_CRASH);
    building.begin();
    building.put(6 * KEYS);
    int[] stores = new int[1];
    MemoryDirectory counting = building.disk.anotherView();
    Map<String, byte[]> before = filesOf(counting);
    CleaningCrashTest.clean(StoreHarness.open(new CountingDirectory(counting, stores), OPTIONS));
    building.disk = directory(before, Survives.PROCESS_CRASH);
    int until = stores[0] / 3 + building.random.nextInt(stores[0] / 3);
    try {
      CleaningCrashTest.clean(
          StoreHarness.open(new CrashingDirectory(building.disk.anotherView(), until), OPTIONS));
    } catch (CrashingDirectory.Crash e) {
      // As was meant.
    }
    return building.done("killed in a cleaning", false);
  }

  private static FaultedStore inDoubling(long seed) throws IOException {
    Building building = new Building(seed + 3, Survives.PROCESS_CRASH);
    building.begin();
    Tables tables = building.store.engine.tables();
    while (tables.next() == null || tables.progressPercent() < 30) {
      building.put("key" + (KEYS + building.number), false);
      building.number++;
    }
    return building.done("killed in a doubling", false);
  }

  private static final class CountingDirectory extends ForwardingDirectory {
    private final int[] stores;

    CountingDirectory(MemoryDirectory directory, int[] stores) {
      super(directory);
      this.stores = stores;
    }

    @Override
    protected PersistentMemory wrap(String name, PersistentMemory memory) {
      return new ForwardingMemory(memory) {
        @Override
        public void put(long offset, MemorySegment from, long at, long length) {
          stores[0]++;
          super.put(offset, from, at, length);
        }

        @Override
        public void putLongRelease(long offset, long value) {
          stores[0]++;
          super.putLongRelease(offset, value);
        }
      };
    }
  }

  /** Puts and deletes, with a clean stop between them. */
  private static final class Building {
    final Map<String, byte[]> values = new TreeMap<>();
    final Random random;
    HeapDirectory disk;
    StoreHarness store;
    int number;
    private Map<String, byte[]> older;

    Building(long seed, Survives claim) {
      this.random = new Random(seed);
      this.disk = new HeapDirectory(Long.MAX_VALUE, claim);
    }

    void begin() throws IOException {
      store = open();
      put(2 * KEYS);
      store.close();
      older = filesOf(disk);
      store = open();
    }

    /** Another store each time: its own UUID and hash seed. */
    private StoreHarness open() {
      return StoreHarness.open(
          disk.anotherView(), OPTIONS, StoreHarness.SLOWLY, new Random(random.nextLong()));
    }

    void put(int count) {
      for (int i = 0; i < count; i++) {
        put("key" + random.nextInt(KEYS), random.nextInt(10) == 0);
      }
    }

    void put(String key, boolean delete) {
      byte[] value = delete ? null : new byte[8 + random.nextInt(600)];
      if (value != null) {
        random.nextBytes(value);
      }
      int result = store.put(key, value);
      if (result != Result.OK) {
        throw new IllegalStateException(key + ": " + Result.name(result));
      }
      values.put(key, value);
    }

    FaultedStore done(String name, boolean stopped) throws IOException {
      Map<String, byte[]> files = filesOf(disk);
      return new FaultedStore(name, stopped, files, older, values, versionsIn(files));
    }
  }

  private static Map<String, List<Version>> versionsIn(Map<String, byte[]> files)
      throws IOException {
    Map<String, List<Version>> versions = new TreeMap<>();
    StoreEngine engine =
        StoreOpening.open(directory(files, Survives.POWER_FAILURE), null, new Random(1));
    WholeObjects objects =
        new WholeObjects(
            engine.log().linked(),
            (region, offset, place, bytes) -> {
              MemorySegment memory = region.memory().segment();
              String key = new String(StoredObjects.key(memory, place));
              versions
                  .computeIfAbsent(key, it -> new ArrayList<>())
                  .add(new Version(region.generation(), place, value(region, place)));
            });
    while (objects.doWork()) {
      // goes on
    }
    return versions;
  }

  private static byte[] value(Region region, long place) {
    MemorySegment memory = region.memory().segment();
    return ObjectLayout.tombstone(memory, place)
        ? null
        : memory
            .asSlice(
                place + ObjectLayout.KEY_OFFSET + ObjectLayout.keyLength(memory, place),
                ObjectLayout.valueLength(memory, place))
            .toArray(ValueLayout.JAVA_BYTE);
  }

  private static Map<String, byte[]> filesOf(MemoryDirectory disk) throws IOException {
    Map<String, byte[]> files = new TreeMap<>();
    for (String name : disk.names()) {
      try (PersistentMemory memory = disk.open(name)) {
        files.put(name, memory.segment().toArray(ValueLayout.JAVA_BYTE));
      }
    }
    return files;
  }

  private static HeapDirectory directory(Map<String, byte[]> files, Survives claim)
      throws IOException {
    HeapDirectory disk = new HeapDirectory(Long.MAX_VALUE, claim);
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      byte[] bytes = file.getValue();
      try (PersistentMemory memory = disk.create(file.getKey(), bytes.length)) {
        memory.put(0, MemorySegment.ofArray(bytes), 0, bytes.length);
      }
    }
    return disk;
  }

  /**
   * Whether it can't be detected in a killed store that a key fell back to an older value: the
   * object of that value lies after the newest one, or the newest object is not in the log any
   * more.
   */
  boolean excuses(String key, byte[] read) {
    if (stopped) {
      return false;
    }
    byte[] value = values.get(key);
    List<Version> ofKey = versions.getOrDefault(key, List.of());
    return ofKey.stream()
        .filter(version -> Arrays.equals(version.value, read))
        .anyMatch(version ->
            ofKey.stream()
                .filter(newest -> Arrays.equals(newest.value, value))
                .noneMatch(newest -> newest.isBehind(version)));
  }
}
