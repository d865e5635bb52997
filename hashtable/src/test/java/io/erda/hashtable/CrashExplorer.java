package io.erda.hashtable;

import io.erda.pmem.PersistentMemory;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Runs a script of table operations, crashes it before every event, recovers from every state that the crash may leave, crashes the
 * recovery before every event too, and checks the table that results, now and after more work and another power failure.
 */
final class CrashExplorer {
  /** States of one crash that are all tried; of more, as many are drawn. */
  private static final int OUTCOMES = 256;

  private final long buckets;
  private final Consumer<Driver> setup;
  private final Consumer<Driver> script;
  private final long seed;
  private UnaryOperator<PersistentMemory> scriptDefect = memory -> memory;
  private UnaryOperator<PersistentMemory> recoveryDefect = memory -> memory;
  private final Set<Long> recovered = new HashSet<>();
  private long cases;

  CrashExplorer(long buckets, long seed, Consumer<Driver> setup, Consumer<Driver> script) {
    this.buckets = buckets;
    this.setup = setup;
    this.script = script;
    this.seed = seed;
  }

  /** Puts something between the table and its memory while the script runs. */
  CrashExplorer scriptDefect(UnaryOperator<PersistentMemory> defect) {
    scriptDefect = defect;
    return this;
  }

  /** Puts something between the table and its memory while the first recovery runs. */
  CrashExplorer recoveryDefect(UnaryOperator<PersistentMemory> defect) {
    recoveryDefect = defect;
    return this;
  }

  /** Recoveries checked so far. */
  long cases() {
    return cases;
  }

  /** Throws {@link AssertionError} at the first violation. */
  void explore() {
    Driver start = fresh();
    setup.accept(start);
    Driver whole = start.on(start.memory.copy(), scriptDefect);
    whole.memory.crashBefore(Long.MAX_VALUE);
    script.accept(whole);
    long events = whole.memory.events();
    for (long event = 0; event <= events; event++) {
      Driver crashing = start.on(start.memory.copy(), scriptDefect);
      crashing.memory.crashBefore(event);
      boolean crashed = runs(() -> script.accept(crashing));
      if (crashed != event < events) {
        throw new IllegalStateException("the script is not deterministic");
      }
      recovered.clear();
      int number = 0;
      for (CrashMemory image : crashing.memory.outcomes(OUTCOMES, random(event))) {
        String where = "crash before event " + event + " of " + events + ", state " + number++;
        recover(image, crashing.oracle, where, true);
      }
    }
  }

  private Driver fresh() {
    CrashMemory memory = new CrashMemory(Driver.bytes(buckets));
    Driver driver = new Driver(memory, new TreeMap<>(), HashTable.create(memory, buckets, new WordCounter(memory, buckets)));
    return driver;
  }

  private void recover(CrashMemory image, Map<Long, long[]> oracle, String where, boolean crashAgain) {
    if (!recovered.add(image.fingerprint())) {
      return;
    }
    CrashMemory whole = image.copy();
    whole.crashBefore(Long.MAX_VALUE);
    try {
      checkRecovered(image, whole, oracle, crashAgain);
    } catch (AssertionError | DamagedTableException e) {
      throw new AssertionError(where + " (replay with -Derda.seed=" + seed + "): " + e.getMessage(), e);
    }
    if (!crashAgain) {
      return;
    }
    CrashMemory counting = image.copy();
    counting.crashBefore(Long.MAX_VALUE);
    Driver.open(counting, recoveryDefect, buckets);
    long events = counting.events();
    for (long event = 0; event < events; event++) {
      CrashMemory crashing = image.copy();
      crashing.crashBefore(event);
      runs(() -> Driver.open(crashing, recoveryDefect, buckets));
      int number = 0;
      for (CrashMemory second : crashing.outcomes(OUTCOMES, random(event))) {
        recover(second, oracle, where + ", recovery before event " + event + " of " + events + ", state " + number++, false);
      }
    }
  }

  private void checkRecovered(CrashMemory before, CrashMemory memory, Map<Long, long[]> oracle, boolean defective) {
    cases++;
    HashTable table = Driver.open(memory, defective ? recoveryDefect : m -> m, buckets);
    long counter = WordCounter.value(memory, buckets);
    Check.that((counter & 1) == 0, "counter odd after recovery: " + counter);
    Check.that(counter > WordCounter.value(before, buckets), "counter not higher after recovery: " + counter);
    Driver driver = new Driver(memory, new TreeMap<>(oracle), table);
    driver.check();
    driver.goOn();
    driver.check();
    CrashMemory later = memory.durableOnly();
    Driver last = new Driver(later, driver.oracle, Driver.open(later, m -> m, buckets));
    try {
      last.check();
    } catch (AssertionError e) {
      throw new AssertionError("after more work and a power failure: " + e.getMessage(), e);
    }
  }

  private SplittableRandom random(long event) {
    return new SplittableRandom(seed * 1_000_003 + event);
  }

  /** Whether it crashed. */
  private static boolean runs(Runnable work) {
    try {
      work.run();
      return false;
    } catch (CrashMemory.Crash e) {
      return true;
    }
  }

  /** The structure counter, in a word behind the table: its stores crash and get lost like any other. */
  static final class WordCounter implements StructureCounter {
    private final PersistentMemory memory;
    private final long offset;

    WordCounter(PersistentMemory memory, long buckets) {
      this.memory = memory;
      this.offset = HashTable.bytesFor(buckets) + 48;
    }

    static long value(PersistentMemory memory, long buckets) {
      return TableLayout.load(memory.segment(), HashTable.bytesFor(buckets) + 48);
    }

    @Override
    public void beginMove() {
      memory.putLongRelease(offset, TableLayout.load(memory.segment(), offset) | 1);
      memory.flush(offset, 8);
    }

    @Override
    public void endMove() {
      memory.putLongRelease(offset, (TableLayout.load(memory.segment(), offset) | 1) + 1);
      memory.flush(offset, 8);
    }
  }

  private static final class Check {
    static void that(boolean condition, String message) {
      if (!condition) {
        throw new AssertionError(message);
      }
    }
  }

  /** A table and what it must hold: for each key word the version words it may have, 0 for absent; more than one while undecided. */
  static final class Driver {
    final CrashMemory memory;
    final Map<Long, long[]> oracle;
    private final HashTable table;
    private int offset;

    private Driver(CrashMemory memory, Map<Long, long[]> oracle, HashTable table) {
      this.memory = memory;
      this.oracle = oracle;
      this.table = table;
      this.offset = 1000 * (1 + oracle.size());
    }

    static long bytes(long buckets) {
      return HashTable.bytesFor(buckets) + 64;
    }

    static HashTable open(CrashMemory memory, UnaryOperator<PersistentMemory> defect, long buckets) {
      PersistentMemory between = defect.apply(memory);
      return HashTable.open(between, new WordCounter(between, buckets));
    }

    private Driver on(CrashMemory copy, UnaryOperator<PersistentMemory> defect) {
      // Opened on the sound memory, so that a defect counts the script's events only; then a second time without effect on the slots.
      open(copy, m -> m, table.buckets());
      Late late = new Late(copy);
      Driver driver = new Driver(copy, new TreeMap<>(oracle), open(late.memory(), table.buckets()));
      late.replace(defect.apply(copy));
      return driver;
    }

    private static HashTable open(PersistentMemory memory, long buckets) {
      return HashTable.open(memory, new WordCounter(memory, buckets));
    }

    /** A key word of a home bucket, different for every {@code number}. */
    long key(long home, int number) {
      return (long) (number + 1) << 32 | home;
    }

    /** Inserts and drains. */
    void insert(long key, boolean pending) {
      long word = VersionWord.first(++offset, pending);
      long[] before = oracle.getOrDefault(key, new long[] {0});
      oracle.put(key, new long[] {0, word});
      boolean inserted = table.insert(key, word) != HashTable.NONE;
      table.drain();
      oracle.put(key, inserted ? new long[] {word} : before);
    }

    /** Stores an update's word and drains. */
    void update(long key, boolean pending) {
      long slot = slot(key);
      long word = table.versionWord(slot);
      long next = VersionWord.update(word, ++offset, pending);
      store(key, word, next, () -> table.storeWord(slot, key, word, next));
    }

    void commit(long key) {
      long slot = slot(key);
      long word = table.versionWord(slot);
      store(key, word, VersionWord.commit(word), () -> table.storeWord(slot, key, word, VersionWord.commit(word)));
    }

    void rollback(long key) {
      long slot = slot(key);
      long word = table.versionWord(slot);
      store(key, word, VersionWord.rollback(word), () -> table.rollback(slot, key, word));
    }

    void empty(long key) {
      long slot = slot(key);
      long word = table.versionWord(slot);
      store(key, word, 0, () -> table.empty(slot, key, word));
    }

    private void store(long key, long word, long next, java.util.function.BooleanSupplier step) {
      oracle.put(key, new long[] {word, next});
      Check.that(step.getAsBoolean(), "the entry holds " + VersionWord.toString(word) + " and the step was refused");
      table.drain();
      oracle.put(key, new long[] {next});
    }

    private long slot(long key) {
      long slot = table.find(key, (s, w) -> true);
      Check.that(slot != HashTable.NONE, "key word " + Long.toHexString(key) + " is lost");
      return slot;
    }

    /** What is undecided becomes decided by what is seen, every present key gets a new version, absent ones come back, others join. */
    private void goOn() {
      int number = 500;
      for (long key : oracle.keySet().stream().mapToLong(Long::longValue).toArray()) {
        long slot = table.find(key, (s, w) -> true);
        if (slot == HashTable.NONE) {
          insert(key, false);
        } else if (VersionWord.pending(table.versionWord(slot))) {
          commit(key);
        } else {
          update(key, false);
        }
      }
      for (long home : new long[] {0, 1, Math.min(13, table.buckets() - 1)}) {
        insert(key(home, number++), false);
      }
    }

    void check() {
      table.check(
          finding ->
              Check.that(finding instanceof TableFinding.LeftKeyWord, finding.getClass().getSimpleName() + ": " + finding.message()));
      Map<Long, Integer> entries = new TreeMap<>();
      table.forEach((slot, key, word) -> entries.merge(key, 1, Integer::sum));
      long size = entries.values().stream().mapToInt(Integer::intValue).sum();
      Check.that(table.size() == size, "size " + table.size() + " of " + size);
      oracle.forEach((key, allowed) -> checkKey(key, allowed, entries.getOrDefault(key, 0)));
      entries.keySet().forEach(key -> Check.that(oracle.containsKey(key), "key word " + Long.toHexString(key) + " from nowhere"));
    }

    private void checkKey(long key, long[] allowed, int entries) {
      long slot = table.find(key, (s, w) -> true);
      long word = slot == HashTable.NONE ? 0 : table.versionWord(slot);
      Check.that(
          Arrays.stream(allowed).anyMatch(w -> w == word),
          "key word " + Long.toHexString(key) + " has " + VersionWord.toString(word) + ", not one of "
              + Arrays.stream(allowed).mapToObj(VersionWord::toString).toList());
      Check.that(entries == (word == 0 ? 0 : 1), "key word " + Long.toHexString(key) + " has " + entries + " entries");
    }
  }

  /** Forwards to a memory that is exchanged once the table is open. */
  private static final class Late {
    private PersistentMemory target;

    Late(PersistentMemory target) {
      this.target = target;
    }

    void replace(PersistentMemory other) {
      target = other;
    }

    PersistentMemory memory() {
      return new DefectiveMemory(target) {
        @Override
        public void putLongRelease(long offset, long value) {
          target.putLongRelease(offset, value);
        }

        @Override
        public void flush(long offset, long length) {
          target.flush(offset, length);
        }

        @Override
        public void drain() {
          target.drain();
        }
      };
    }
  }
}
