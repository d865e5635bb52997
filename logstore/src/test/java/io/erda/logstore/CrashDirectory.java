package io.erda.logstore;

import io.erda.pmem.Backing;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/**
 * Memories of one test that crash. Each store of a word, each flush, drain, creation, deletion and
 * synchronisation is a step; before the step that {@link #crashAtStep} names, {@link Crash} is
 * thrown. Then {@link #processCrash} or {@link #powerFailure} determines the bytes that remain.
 *
 * <p>A word that was stored and not flushed and drained since may have, after a power failure, any
 * of the values stored since it was last durable, or the durable one. The same holds for names and
 * {@link #sync}. A flush without its drain has no effect after the process is gone.
 */
final class CrashDirectory implements MemoryDirectory {
  static final class Crash extends Error {
    private static final long serialVersionUID = 1L;

    Crash() {
      super("crash", null, false, false);
    }
  }

  /**
   * Chooses what survives of {@code count} later values: 0 is the durable one, {@code count} the
   * last.
   */
  interface Fate {
    int survivor(int count);

    Fate LOST = count -> 0;
    Fate KEPT = count -> count;

    static Fate random(RandomGenerator random) {
      return count -> random.nextInt(count + 1);
    }
  }

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final Arena arena = Arena.ofConfined();
  private final Map<String, CrashMemory> names = new TreeMap<>();
  private final List<CrashMemory> memories = new ArrayList<>();

  /**
   * For each name that is not synchronised, the memories that it has named: the durable one, then
   * the later ones; null for none.
   */
  private final Map<String, List<CrashMemory>> unsynced = new TreeMap<>();

  private final Set<String> everCreated = new HashSet<>();
  private long step;
  private long crashAt = Long.MAX_VALUE;
  long roomBytes = Long.MAX_VALUE;
  IOException failNextCreate;
  IOException failNextSync;
  IOException failNextRename;
  IOException failDeletes;
  int drains;
  int openMemories;

  long steps() {
    return step;
  }

  /** Counts from the next step, which is 1. */
  void crashAtStep(long count) {
    crashAt = step + count;
  }

  private void step() {
    if (step + 1 >= crashAt) {
      throw new Crash();
    }
    step++;
  }

  /**
   * The process is gone: every store that was made is seen by the next one, none is known to be
   * durable that was not drained.
   */
  void processCrash() {
    crashAt = Long.MAX_VALUE;
    openMemories = 0;
    memories.forEach(memory -> memory.flushed.clear());
  }

  void powerFailure(Fate fate) {
    processCrash();
    for (Map.Entry<String, List<CrashMemory>> entry : unsynced.entrySet()) {
      List<CrashMemory> meanings = entry.getValue();
      CrashMemory survivor = meanings.get(fate.survivor(meanings.size() - 1));
      if (survivor == null) {
        names.remove(entry.getKey());
      } else {
        names.put(entry.getKey(), survivor);
      }
    }
    unsynced.clear();
    memories.forEach(memory -> memory.powerFailure(fate));
  }

  private void mean(String name, CrashMemory memory) {
    CrashMemory before = memory == null ? names.remove(name) : names.put(name, memory);
    List<CrashMemory> meanings = unsynced.computeIfAbsent(name, absent -> new ArrayList<>());
    if (meanings.isEmpty()) {
      meanings.add(before);
    }
    meanings.add(memory);
  }

  @Override
  public long usableBytes() {
    return roomBytes;
  }

  @Override
  public CrashMemory create(String name, long length) throws IOException {
    if (names.containsKey(name)) {
      throw new FileAlreadyExistsException(name);
    }
    if (failNextCreate != null) {
      IOException failure = failNextCreate;
      failNextCreate = null;
      throw failure;
    }
    if (length > roomBytes) {
      throw new OutOfSpaceException(
          name + " needs " + length + " bytes, there are " + roomBytes, null);
    }
    if (name.startsWith("region-") && !everCreated.add(generationOf(name))) {
      throw new AssertionError("generation used again: " + name);
    }
    step();
    mean(name, memory(0));
    step();
    CrashMemory whole = memory(length);
    mean(name, whole);
    roomBytes -= roomBytes == Long.MAX_VALUE ? 0 : length;
    openMemories++;
    return whole;
  }

  private static String generationOf(String name) {
    return name.substring(name.lastIndexOf('-') + 1);
  }

  private CrashMemory memory(long length) {
    CrashMemory memory = new CrashMemory(arena.allocate(length, 8));
    memories.add(memory);
    return memory;
  }

  @Override
  public CrashMemory open(String name) throws IOException {
    CrashMemory memory = names.get(name);
    if (memory == null) {
      throw new NoSuchFileException(name);
    }
    openMemories++;
    return memory;
  }

  /** Looks at a memory without opening it. */
  CrashMemory peek(String name) {
    CrashMemory memory = names.get(name);
    if (memory == null) {
      throw new NoSuchElementException(name);
    }
    return memory;
  }

  @Override
  public void delete(String name) throws IOException {
    step();
    if (failDeletes != null) {
      throw failDeletes;
    }
    if (names.containsKey(name)) {
      mean(name, null);
    }
  }

  @Override
  public void rename(String from, String to) throws IOException {
    step();
    if (failNextRename != null) {
      IOException failure = failNextRename;
      failNextRename = null;
      throw failure;
    }
    mean(to, names.get(from));
    mean(from, null);
  }

  @Override
  public boolean exists(String name) {
    return names.containsKey(name);
  }

  @Override
  public List<String> names() {
    return List.copyOf(names.keySet());
  }

  @Override
  public void sync() throws IOException {
    step();
    if (failNextSync != null) {
      IOException failure = failNextSync;
      failNextSync = null;
      throw failure;
    }
    unsynced.clear();
  }

  @Override
  public void makeDurable() {
    step();
    unsynced.clear();
    memories.forEach(memory -> memory.undrained.clear());
    memories.forEach(memory -> memory.flushed.clear());
  }

  @Override
  public boolean lock() {
    return true;
  }

  @Override
  public Survives survives() {
    return Survives.POWER_FAILURE;
  }

  @Override
  public void close() {
    arena.close();
  }

  final class CrashMemory implements PersistentMemory {
    private final MemorySegment segment;

    /** The values of each word that is not durable: the durable one, then those stored since. */
    private final Map<Long, List<Long>> undrained = new TreeMap<>();

    /** How many of those values a flush covers, for each word that was flushed. */
    private final Map<Long, Integer> flushed = new TreeMap<>();

    CrashMemory(MemorySegment segment) {
      this.segment = segment;
    }

    private void powerFailure(Fate fate) {
      undrained.forEach((offset, values) ->
          segment.set(LONG, offset, values.get(fate.survivor(values.size() - 1))));
      undrained.clear();
    }

    private void store(long offset, long value) {
      step();
      List<Long> values =
          undrained.computeIfAbsent(
              offset, absent -> new ArrayList<>(List.of(segment.get(LONG, offset))));
      values.add(value);
      segment.set(LONG, offset, value);
    }

    @Override
    public MemorySegment segment() {
      return segment;
    }

    @Override
    public void put(long offset, MemorySegment source, long sourceOffset, long length) {
      byte[] word = new byte[8];
      MemorySegment view = MemorySegment.ofArray(word);
      for (long at = offset; at < offset + length; ) {
        long base = at & -8;
        long end = Math.min(base + 8, offset + length);
        MemorySegment.copy(segment, base, view, 0, 8);
        MemorySegment.copy(source, sourceOffset + at - offset, view, at - base, end - at);
        store(
            base, view.get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), 0));
        at = end;
      }
    }

    @Override
    public void putLongRelease(long offset, long value) {
      assert (offset & 7) == 0;
      store(offset, value);
    }

    @Override
    public boolean compareAndSetLong(long offset, long expected, long value) {
      throw new AssertionError("a log's words have one writer");
    }

    @Override
    public void flush(long offset, long length) {
      step();
      undrained.forEach((word, values) -> {
        if (word + 8 > offset && word < offset + length) {
          flushed.put(word, values.size());
        }
      });
    }

    @Override
    public void drain() {
      step();
      drains++;
      flushed.forEach((word, count) -> {
        List<Long> values = undrained.get(word);
        values.subList(0, count - 1).clear();
        if (values.size() == 1) {
          undrained.remove(word);
        }
      });
      flushed.clear();
    }

    @Override
    public Survives survives() {
      return Survives.POWER_FAILURE;
    }

    @Override
    public boolean visibleBeforeDurable() {
      return true;
    }

    @Override
    public Backing backing() {
      return Backing.none(segment.byteSize());
    }

    @Override
    public void close() {
      openMemories--;
    }
  }
}
