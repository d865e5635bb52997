package io.erda.hashtable;

import io.erda.pmem.PersistentMemory;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/**
 * Opens a table and runs a script of operations on it, crashes that before every event, recovers
 * from every state that the crash may leave, crashes the recovery before every event too, and
 * checks the table that results, now and after more work and another crash.
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
  private long otherWriter;
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

  /** Lets another writer replace words while the script runs. */
  CrashExplorer besideAnotherWriter(long ofSeed) {
    otherWriter = ofSeed;
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
    start.memory.processCrash();
    long events = run(start, Long.MAX_VALUE).memory.events();
    for (long event = 0; event <= events; event++) {
      Driver crashing = run(start, event);
      crashing.decideWhatWasSeen();
      recovered.clear();
      int number = 0;
      for (CrashMemory image : crashing.memory.outcomes(OUTCOMES, random(event))) {
        String where = "crash before event " + event + " of " + events + ", state " + number++;
        recover(image, crashing.oracle, where, true);
      }
    }
  }

  /**
   * Opens the table as {@code start} left it and runs the script, up to a crash before {@code
   * event}.
   */
  private Driver run(Driver start, long event) {
    CrashMemory memory = start.memory.copy();
    memory.crashBefore(event);
    Driver driver = new Driver(memory, new TreeMap<>(start.oracle), null);
    runs(() -> {
      if (otherWriter == 0) {
        driver.table = Driver.open(memory, scriptDefect, buckets);
      } else {
        driver.openBesideAnotherWriter(new SplittableRandom(otherWriter), scriptDefect, buckets);
      }
      script.accept(driver);
    });
    return driver;
  }

  private Driver fresh() {
    CrashMemory memory = new CrashMemory(Driver.bytes(buckets));
    return new Driver(
        memory,
        new TreeMap<>(),
        HashTable.create(memory, buckets, new WordCounter(memory, buckets)));
  }

  private void recover(
      CrashMemory image, Map<Long, long[]> oracle, String where, boolean crashAgain) {
    if (!recovered.add(image.fingerprint())) {
      return;
    }
    CrashMemory whole = image.copy();
    whole.crashBefore(Long.MAX_VALUE);
    try {
      checkRecovered(image, whole, oracle, crashAgain);
    } catch (AssertionError | DamagedTableException e) {
      throw new AssertionError(
          where + " (replay with -Derda.seed=" + seed + "): " + e.getMessage(), e);
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
        recover(
            second,
            oracle,
            where + ", recovery before event " + event + " of " + events + ", state " + number++,
            false);
      }
    }
  }

  private void checkRecovered(
      CrashMemory before, CrashMemory memory, Map<Long, long[]> oracle, boolean defective) {
    cases++;
    HashTable table = Driver.open(memory, defective ? recoveryDefect : m -> m, buckets);
    long counter = WordCounter.value(memory, buckets);
    Check.that((counter & 1) == 0, "counter odd after recovery: " + counter);
    Check.that(
        counter > WordCounter.value(before, buckets),
        "counter not higher after recovery: " + counter);
    Driver driver = new Driver(memory, new TreeMap<>(oracle), table);
    driver.check();
    driver.goOn();
    driver.check();
    for (CrashMemory later : memory.outcomes(8, random(cases))) {
      Driver last = new Driver(later, driver.oracle, Driver.open(later, m -> m, buckets));
      try {
        last.check();
      } catch (AssertionError e) {
        throw new AssertionError("after more work and another crash: " + e.getMessage(), e);
      }
    }
  }

  private SplittableRandom random(long event) {
    return new SplittableRandom(seed * 1_000_003 + event);
  }

  private static void runs(Runnable work) {
    try {
      work.run();
    } catch (CrashMemory.Crash e) {
      // The explorer made this crash.
    }
  }

  /**
   * The structure counter, in a word behind the table: its stores crash and get lost like any
   * other.
   */
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

  /** A structure counter for tables whose readers don't matter. */
  static final class NoCounter implements StructureCounter {
    @Override
    public void beginMove() {}

    @Override
    public void endMove() {}
  }

  private static final class Check {
    static void that(boolean condition, String message) {
      if (!condition) {
        throw new AssertionError(message);
      }
    }
  }

  /** A table and what it must hold. */
  static final class Driver extends WordOracle {
    final CrashMemory memory;
    private HashTable table;

    /** The key that is being removed, or 0. */
    private long removing;

    private Driver(CrashMemory memory, Map<Long, long[]> oracle, HashTable table) {
      super(oracle);
      this.memory = memory;
      this.table = table;
    }

    static long bytes(long buckets) {
      return HashTable.bytesFor(buckets) + 64;
    }

    static HashTable open(
        CrashMemory memory, UnaryOperator<PersistentMemory> defect, long buckets) {
      return HashTable.open(defect.apply(memory), new WordCounter(memory, buckets));
    }

    private void openBesideAnotherWriter(
        RandomGenerator random, UnaryOperator<PersistentMemory> defect, long buckets) {
      OtherWriter other = new OtherWriter(defect.apply(memory), memory.another(0), random, this);
      table = HashTable.open(other, new WordCounter(memory, buckets));
      table.share();
      other.begin();
    }

    /** A key word of a home bucket, different for every {@code number}. */
    long key(long home, int number) {
      return (long) (number + 1) << 32 | home;
    }

    /** The process dies before event {@code event} of the work. */
    void dieWithin(long event, Runnable work) {
      memory.crashBefore(event);
      runs(work);
      memory.processCrash();
      memory.crashBefore(Long.MAX_VALUE);
    }

    /** Inserts and drains. */
    void insert(long key, boolean pending) {
      long word = VersionWord.first(newVersion(), pending);
      long[] before = oracle.getOrDefault(key, new long[] {0});
      undecided(key, word);
      int replacements = replacements(key);
      boolean inserted = table.insert(key, word) != HashTable.NONE;
      table.drain();
      decided(key, replacements, inserted ? new long[] {word} : before);
    }

    /**
     * Stages the keys, drains, does something else, inserts them, or takes them back, and drains.
     *
     * @param wanted of the keys, the first ones; the others are taken back
     */
    void insertStaged(int wanted, Runnable between, long... keys) {
      long[] slots = new long[keys.length];
      for (int i = 0; i < keys.length; i++) {
        slots[i] = table.stage(keys[i]);
      }
      table.drain();
      between.run();
      long[] words = new long[wanted];
      int[] replacements = new int[wanted];
      for (int i = 0; i < wanted; i++) {
        words[i] = VersionWord.first(newVersion(), i % 2 == 0);
        undecided(keys[i], words[i]);
        replacements[i] = replacements(keys[i]);
        if (slots[i] == HashTable.NONE || !table.insertStaged(slots[i], keys[i], words[i])) {
          Check.that(table.insert(keys[i], words[i]) != HashTable.NONE, "there is room");
        }
      }
      for (int i = wanted; i < keys.length; i++) {
        if (slots[i] != HashTable.NONE) {
          table.unstage(slots[i], keys[i]);
        }
      }
      table.drain();
      for (int i = 0; i < wanted; i++) {
        decided(keys[i], replacements[i], words[i]);
      }
    }

    /** Stores an update's word and drains. */
    void update(long key, boolean pending) {
      change(
          key,
          word -> VersionWord.update(word, newVersion(), pending),
          (slot, word, next) -> table.storeWord(slot, key, word, next));
    }

    /** Commits, or ends a lock that a crash has left. */
    void commit(long key) {
      if (VersionWord.isLocked(table.versionWord(slot(key)))) {
        rollback(key);
        return;
      }
      change(
          key, VersionWord::commit, (slot, word, next) -> table.storeWord(slot, key, word, next));
    }

    void rollback(long key) {
      change(key, VersionWord::rollback, (slot, word, _) -> table.rollback(slot, key, word));
    }

    void empty(long key) {
      change(key, _ -> 0, (slot, word, _) -> table.empty(slot, key, word));
    }

    /** Removes a key. A reader that finds it absent must be able to rely on that, undrained. */
    void remove(long key) {
      attempt(
          key,
          _ -> 0,
          (slot, word, _) -> {
            removing = key;
            boolean removed = table.remove(slot, key, word);
            removing = 0;
            return removed;
          },
          () -> {});
    }

    boolean isThere(long key) {
      return table.find(key, (s, w) -> true) != HashTable.NONE;
    }

    /** A reader that found a key gone while it was removed will not find it again. */
    private void decideWhatWasSeen() {
      if (removing != 0 && !isThere(removing)) {
        oracle.put(removing, new long[] {0});
      }
    }

    /**
     * Some operation: the insertion of key number {@code number}, or the next step in the life of a
     * key that is there.
     */
    void anyStep(RandomGenerator random, int number) {
      long[] present =
          oracle.keySet().stream()
              .filter(key -> table.find(key, (s, w) -> true) != HashTable.NONE)
              .mapToLong(k -> k)
              .toArray();
      if (random.nextInt(3) == 0) {
        insert(key(random.nextInt(3) * 13, number), random.nextBoolean());
        return;
      }
      long key = present[random.nextInt(present.length)];
      boolean even = random.nextBoolean();
      boolean forReaders = random.nextBoolean();
      if (VersionWord.pending(table.versionWord(slot(key)))) {
        if (even) {
          commit(key);
        } else {
          rollback(key);
        }
      } else if (even) {
        update(key, random.nextBoolean());
      } else if (forReaders) {
        remove(key);
      } else {
        empty(key);
      }
    }

    /** A step that may change an entry. */
    private interface Change {
      /** Returns whether the entry had the word, and has the next one now. */
      boolean isDone(long slot, long word, long next);
    }

    /** Changes a key's word and drains. */
    private void change(long key, LongUnaryOperator successor, Change change) {
      attempt(key, successor, change, table::drain);
    }

    /** Changes a key's word. Another writer may come in between, again and again. */
    private void attempt(long key, LongUnaryOperator successor, Change change, Runnable drain) {
      long next;
      int replacements;
      boolean done;
      do {
        long slot = slot(key);
        replacements = replacements(key);
        long word = table.versionWord(slot);
        next = successor.applyAsLong(word);
        undecided(key, next);
        done = change.isDone(slot, word, next);
      } while (!done && replacements(key) > replacements);
      Check.that(done, "a step on key word " + Long.toHexString(key) + " was refused");
      drain.run();
      decided(key, replacements, next);
    }

    private long slot(long key) {
      long slot = table.find(key, (s, w) -> true);
      Check.that(slot != HashTable.NONE, "key word " + Long.toHexString(key) + " is lost");
      return slot;
    }

    /**
     * Undecided operations are decided by the values that are found. Then every present key gets a
     * new version, absent keys are inserted again, and further keys are inserted.
     */
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
      table.check(finding ->
          Check.that(
              finding instanceof TableFinding.LeftKeyWord,
              finding.getClass().getSimpleName() + ": " + finding.message()));
      Map<Long, Integer> entries = new TreeMap<>();
      table.forEach((slot, key, word) -> entries.merge(key, 1, Integer::sum));
      long size = entries.values().stream().mapToInt(Integer::intValue).sum();
      Check.that(table.size() == size, "size " + table.size() + " of " + size);
      oracle.forEach((key, allowed) -> checkKey(key, allowed, entries.getOrDefault(key, 0)));
      entries
          .keySet()
          .forEach(key ->
              Check.that(
                  oracle.containsKey(key), "key word " + Long.toHexString(key) + " from nowhere"));
    }

    private void checkKey(long key, long[] allowed, int entries) {
      long slot = table.find(key, (s, w) -> true);
      long word = slot == HashTable.NONE ? 0 : table.versionWord(slot);
      Check.that(
          isOneOf(word, allowed),
          "key word "
              + Long.toHexString(key)
              + " has "
              + VersionWord.toString(word)
              + ", not one of "
              + Arrays.stream(allowed).mapToObj(VersionWord::toString).toList());
      Check.that(
          entries == (word == 0 ? 0 : 1),
          "key word " + Long.toHexString(key) + " has " + entries + " entries");
    }
  }
}
