package io.erda.hashtable;

import io.erda.pmem.Backing;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/**
 * Memory with a crash before any chosen event (a store, flush or drain), and every state that the
 * crash may leave.
 *
 * <p>A process crash leaves what was stored; what of it is durable stays as unknown as it was. A
 * power failure leaves of each 8-byte word that is not drained, independently of all others, the
 * durable value or any value stored since: caches evict when they like. Flushes cover exactly the
 * words they name, not their cache lines. Stricter than hardware on purpose.
 */
final class CrashMemory implements PersistentMemory {
  /** Is thrown where the memory crashes. */
  static final class Crash extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Crash() {
      super("crash", null, false, false);
    }
  }

  /**
   * A word whose durable value is uncertain: values stored since the durable one, and how many of
   * them the last flush covered.
   */
  private record Undrained(List<Long> values, int flushed) {}

  private final long[] seen;
  private final long[] durable;
  private final MemorySegment segment;
  private final Map<Integer, Undrained> undrained;
  private long events;
  private long crashBefore = Long.MAX_VALUE;

  CrashMemory(long bytes) {
    this(new long[(int) (bytes / 8)], new long[(int) (bytes / 8)], new TreeMap<>());
  }

  private CrashMemory(long[] seen, long[] durable, Map<Integer, Undrained> undrained) {
    this.seen = seen;
    this.durable = durable;
    this.segment = MemorySegment.ofArray(seen);
    this.undrained = undrained;
  }

  /** A memory in the same state that never crashes. */
  CrashMemory copy() {
    return new CrashMemory(seen.clone(), durable.clone(), new TreeMap<>(undrained));
  }

  /** Makes event number {@code event} (from 0, counted from now) crash instead of happen. */
  void crashBefore(long event) {
    events = 0;
    crashBefore = event;
  }

  long events() {
    return events;
  }

  /**
   * Every state that a crash now may leave, or a seeded sample where there are more than {@code
   * limit}. The first is a process crash.
   */
  List<CrashMemory> outcomes(int limit, RandomGenerator random) {
    List<CrashMemory> outcomes = new ArrayList<>();
    CrashMemory carried = copy();
    carried.processCrash();
    outcomes.add(carried);

    int[] words = undrained.keySet().stream().mapToInt(Integer::intValue).toArray();
    long[][] choices = new long[words.length][];
    long combinations = 1;
    for (int i = 0; i < words.length; i++) {
      List<Long> values = new ArrayList<>(undrained.get(words[i]).values);
      values.addFirst(durable[words[i]]);
      choices[i] = values.stream().mapToLong(Long::longValue).distinct().toArray();
      combinations = Math.min(Integer.MAX_VALUE, combinations * choices[i].length);
    }
    boolean all = combinations <= limit;
    for (long n = 0; n < Math.min(combinations, limit); n++) {
      long[] image = durable.clone();
      long rest = n;
      for (int i = 0; i < words.length; i++) {
        image[words[i]] =
            choices[i][all ? (int) (rest % choices[i].length) : random.nextInt(choices[i].length)];
        rest /= choices[i].length;
      }
      outcomes.add(new CrashMemory(image, image.clone(), new TreeMap<>()));
    }
    return outcomes;
  }

  /** Equal for equal states (but for chance). */
  long fingerprint() {
    long sum = undrained.hashCode();
    for (int i = 0; i < seen.length; i++) {
      sum = (sum ^ seen[i]) * 0x9E37_79B9_7F4A_7C15L;
      sum = (Long.rotateLeft(sum, 29) ^ durable[i]) * 0xBF58_476D_1CE4_E5B9L;
    }
    return sum;
  }

  /**
   * Earlier flushes have no effect any more, because the process that would drain them has died.
   */
  void processCrash() {
    undrained.replaceAll((word, state) -> new Undrained(state.values, 0));
  }

  private void event() {
    if (events == crashBefore) {
      throw new Crash();
    }
    events++;
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public void put(long offset, MemorySegment source, long sourceOffset, long length) {
    throw new UnsupportedOperationException("the table stores words only");
  }

  @Override
  public void putLongRelease(long offset, long value) {
    if ((offset & 7) != 0) {
      throw new IllegalArgumentException("not 8-aligned: " + offset);
    }
    event();
    store((int) (offset >>> 3), value);
  }

  /** {@inheritDoc} It is one event, whether it stores or not. */
  @Override
  public boolean compareAndSetLong(long offset, long expected, long value) {
    if ((offset & 7) != 0) {
      throw new IllegalArgumentException("not 8-aligned: " + offset);
    }
    event();
    boolean stores = seen[(int) (offset >>> 3)] == expected;
    if (stores) {
      store((int) (offset >>> 3), value);
    }
    return stores;
  }

  private void store(int word, long value) {
    seen[word] = value;
    Undrained before = undrained.getOrDefault(word, new Undrained(List.of(), 0));
    List<Long> values = new ArrayList<>(before.values);
    values.add(value);
    undrained.put(word, new Undrained(List.copyOf(values), before.flushed));
  }

  /** A store by another thread or process than the one that crashes. */
  interface Another {
    /** Stores a word, durably or not. It is no event. */
    void store(long offset, long value, boolean durable);
  }

  /** Returns the stores of others to the bytes from {@code base} on. */
  Another another(long base) {
    return (offset, value, durable) -> {
      int word = (int) (base + offset >>> 3);
      store(word, value);
      if (durable) {
        this.durable[word] = value;
        undrained.remove(word);
      }
    };
  }

  @Override
  public void flush(long offset, long length) {
    event();
    for (int word = (int) (offset >>> 3); word < (offset + length + 7) >>> 3; word++) {
      undrained.computeIfPresent(
          word, (w, state) -> new Undrained(state.values, state.values.size()));
    }
  }

  @Override
  public void drain() {
    drain(0, seen.length);
  }

  /** Drains the words [begin, end) alone. */
  private void drain(int begin, int end) {
    event();
    for (int word : undrained.keySet().stream().mapToInt(Integer::intValue).toArray()) {
      if (word < begin || word >= end) {
        continue;
      }
      Undrained state = undrained.get(word);
      if (state.flushed > 0) {
        durable[word] = state.values.get(state.flushed - 1);
        List<Long> later = state.values.subList(state.flushed, state.values.size());
        if (later.isEmpty()) {
          undrained.remove(word);
        } else {
          undrained.put(word, new Undrained(List.copyOf(later), 0));
        }
      }
    }
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
  public void close() {}

  /** Returns a memory in a part of this one, which has separate drains. Both crash together. */
  PersistentMemory part(long offset, long bytes) {
    return new Part(offset, segment.asSlice(offset, bytes));
  }

  private final class Part implements PersistentMemory {
    private final long base;
    private final MemorySegment part;

    Part(long base, MemorySegment part) {
      this.base = base;
      this.part = part;
    }

    @Override
    public MemorySegment segment() {
      return part;
    }

    @Override
    public void put(long offset, MemorySegment source, long sourceOffset, long length) {
      CrashMemory.this.put(base + offset, source, sourceOffset, length);
    }

    @Override
    public void putLongRelease(long offset, long value) {
      CrashMemory.this.putLongRelease(base + offset, value);
    }

    @Override
    public boolean compareAndSetLong(long offset, long expected, long value) {
      return CrashMemory.this.compareAndSetLong(base + offset, expected, value);
    }

    @Override
    public void flush(long offset, long length) {
      CrashMemory.this.flush(base + offset, length);
    }

    @Override
    public void drain() {
      CrashMemory.this.drain((int) (base >>> 3), (int) (base + part.byteSize() >>> 3));
    }

    @Override
    public Survives survives() {
      return CrashMemory.this.survives();
    }

    @Override
    public boolean visibleBeforeDurable() {
      return CrashMemory.this.visibleBeforeDurable();
    }

    @Override
    public Backing backing() {
      return Backing.none(part.byteSize());
    }

    @Override
    public void close() {}
  }
}
