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
 * As {@link CrashExplorer}, for a table that is being doubled or halved: a script runs on two
 * tables, is crashed before every event, recovered from every state that the crash may leave, with
 * the recovery crashed before every event too; every key must have one entry in the two tables,
 * with a word it may have, now, when the resizing is done, and after one more crash.
 */
final class ResizingExplorer {
  private static final int OUTCOMES = 128;
  private static final long SUPERBLOCK_BYTES = 4096;

  private final long oldBuckets;
  private final long newBuckets;
  private final long seed;
  private final Consumer<Driver> setup;
  private final Consumer<Driver> script;
  private UnaryOperator<PersistentMemory> oldDefect = memory -> memory;
  private UnaryOperator<PersistentMemory> newDefect = memory -> memory;
  private boolean defectInRecovery;
  private final Set<Long> recovered = new HashSet<>();
  private long otherWriter;
  private long cases;

  ResizingExplorer(
      long oldBuckets,
      long newBuckets,
      long seed,
      Consumer<Driver> setup,
      Consumer<Driver> script) {
    this.oldBuckets = oldBuckets;
    this.newBuckets = newBuckets;
    this.seed = seed;
    this.setup = setup;
    this.script = script;
  }

  /** Puts something between the tables and their memories while the script runs. */
  ResizingExplorer defects(
      UnaryOperator<PersistentMemory> ofOld, UnaryOperator<PersistentMemory> ofNew) {
    oldDefect = ofOld;
    newDefect = ofNew;
    return this;
  }

  /** Puts something there while the first recovery runs, instead. */
  ResizingExplorer inRecovery() {
    defectInRecovery = true;
    return this;
  }

  /** Lets another writer replace words of the old table while the script runs. */
  ResizingExplorer besideAnotherWriter(long ofSeed) {
    otherWriter = ofSeed;
    return this;
  }

  long cases() {
    return cases;
  }

  /** Throws {@link AssertionError} at the first violation. */
  void explore() {
    CrashMemory memory = new CrashMemory(Driver.bytes(oldBuckets, newBuckets));
    Driver start = new Driver(memory, oldBuckets, newBuckets, new TreeMap<>());
    start.create();
    setup.accept(start);
    memory.processCrash();
    long events = run(start, Long.MAX_VALUE).memory.events();
    for (long event = 0; event <= events; event++) {
      Driver crashing = run(start, event);
      recovered.clear();
      int number = 0;
      for (CrashMemory image : crashing.memory.outcomes(OUTCOMES, random(event))) {
        recover(
            image,
            crashing.oracle,
            "crash before event " + event + " of " + events + ", state " + number++,
            true);
      }
    }
  }

  private Driver run(Driver start, long event) {
    Driver driver =
        new Driver(start.memory.copy(), oldBuckets, newBuckets, new TreeMap<>(start.oracle));
    driver.memory.crashBefore(event);
    runs(() -> {
      if (otherWriter != 0) {
        driver.openBesideAnotherWriter(new SplittableRandom(otherWriter));
      } else if (defectInRecovery) {
        driver.open();
      } else {
        driver.open(oldDefect, newDefect);
      }
      script.accept(driver);
    });
    return driver;
  }

  private void recover(
      CrashMemory image, Map<Long, long[]> oracle, String where, boolean crashAgain) {
    if (!recovered.add(image.fingerprint())) {
      return;
    }
    try {
      checkRecovered(image, oracle, crashAgain);
    } catch (AssertionError | DamagedTableException e) {
      throw new AssertionError(
          where + " (replay with -Derda.seed=" + seed + "): " + e.getMessage(), e);
    }
    if (!crashAgain) {
      return;
    }
    CrashMemory counting = image.copy();
    counting.crashBefore(Long.MAX_VALUE);
    openAgain(new Driver(counting, oldBuckets, newBuckets, new TreeMap<>(oracle)), true);
    long events = counting.events();
    for (long event = 0; event < events; event++) {
      Driver crashing = new Driver(image.copy(), oldBuckets, newBuckets, new TreeMap<>(oracle));
      crashing.memory.crashBefore(event);
      runs(() -> openAgain(crashing, true));
      int number = 0;
      for (CrashMemory second : crashing.memory.outcomes(16, random(event))) {
        recover(
            second,
            oracle,
            where + ", recovery before event " + event + " of " + events + ", state " + number++,
            false);
      }
    }
  }

  private void openAgain(Driver driver, boolean first) {
    if (first && defectInRecovery) {
      driver.open(oldDefect, newDefect);
    } else {
      driver.open();
    }
  }

  private void checkRecovered(CrashMemory image, Map<Long, long[]> oracle, boolean first) {
    cases++;
    Driver driver = new Driver(image.copy(), oldBuckets, newBuckets, new TreeMap<>(oracle));
    driver.memory.crashBefore(Long.MAX_VALUE);
    openAgain(driver, first);
    driver.check();
    // Crash at once again: what recovery saw must be durable before anything else is.
    driver.decide();
    driver.goOn();
    driver.check();
    after(driver, "after more work");
    driver.finish();
    driver.check();
    after(driver, "after the resizing");
  }

  private void after(Driver driver, String when) {
    for (CrashMemory later : driver.memory.outcomes(6, random(cases))) {
      Driver last = new Driver(later, oldBuckets, newBuckets, driver.oracle);
      try {
        last.open();
        last.check();
      } catch (AssertionError e) {
        throw new AssertionError(when + " and another crash: " + e.getMessage(), e);
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

  /** Two tables and what they must hold together. */
  static final class Driver extends WordOracle {
    final CrashMemory memory;
    private final long oldBuckets;
    private final long newBuckets;
    private HashTable from;
    private HashTable to;
    private Resizing resizing;

    private OtherWriter other;

    Driver(CrashMemory memory, long oldBuckets, long newBuckets, Map<Long, long[]> oracle) {
      super(oracle);
      this.memory = memory;
      this.oldBuckets = oldBuckets;
      this.newBuckets = newBuckets;
    }

    static long bytes(long oldBuckets, long newBuckets) {
      return SUPERBLOCK_BYTES + HashTable.bytesFor(oldBuckets) + HashTable.bytesFor(newBuckets);
    }

    /** In place of the superblock: 1 in its first word where the resizing turned round. */
    private PersistentMemory superblock() {
      return memory.part(0, SUPERBLOCK_BYTES);
    }

    private PersistentMemory ofOld() {
      return memory.part(SUPERBLOCK_BYTES, HashTable.bytesFor(oldBuckets));
    }

    private PersistentMemory ofNew() {
      return memory.part(
          SUPERBLOCK_BYTES + HashTable.bytesFor(oldBuckets), HashTable.bytesFor(newBuckets));
    }

    void create() {
      StructureCounter counter = new CrashExplorer.NoCounter();
      from = HashTable.create(ofOld(), oldBuckets, counter);
      to = HashTable.create(ofNew(), newBuckets, counter);
      resizing = Resizing.open(from, to);
    }

    void open() {
      open(m -> m, m -> m);
    }

    void open(
        UnaryOperator<PersistentMemory> oldDefect, UnaryOperator<PersistentMemory> newDefect) {
      StructureCounter counter = new CrashExplorer.NoCounter();
      from = HashTable.open(oldDefect.apply(ofOld()), counter);
      to = HashTable.open(newDefect.apply(ofNew()), counter);
      if (TableLayout.load(superblock().segment(), 0) != 0) {
        // An opening of a store makes the superblock durable before it relies on it.
        superblock().flush(0, Long.BYTES);
        superblock().drain();
        swap();
      }
      resizing = Resizing.open(from, to);
    }

    private void openBesideAnotherWriter(RandomGenerator random) {
      StructureCounter counter = new CrashExplorer.NoCounter();
      other = new OtherWriter(ofOld(), memory.another(SUPERBLOCK_BYTES), random, this);
      from = HashTable.open(other, counter);
      to = HashTable.open(ofNew(), counter);
      resizing = Resizing.open(from, to);
      from.share();
      to.share();
      other.begin();
    }

    /** A table that was resized has become the one that it is resized into. */
    private void swap() {
      HashTable larger = from;
      from = to;
      to = larger;
    }

    /** The resizing is given up: what was moved is moved back. */
    void turn() {
      while (!resizing.forget(5)) {
        // Forgetting goes on.
      }
      PersistentMemory memory = superblock();
      memory.putLongRelease(0, 1);
      memory.flush(0, Long.BYTES);
      memory.drain();
      swap();
      resizing = Resizing.open(from, to);
    }

    /** A key word of a home bucket, different for every {@code number}. */
    long key(long home, int number) {
      return (long) (number + 1) << 32 | home;
    }

    void dieWithin(long event, Runnable work) {
      memory.crashBefore(event);
      runs(work);
      memory.processCrash();
      memory.crashBefore(Long.MAX_VALUE);
    }

    /** Inserts into the old table, before the resizing began. */
    void insertOld(long key, boolean pending) {
      long word = VersionWord.first(newVersion(), pending);
      from.insert(key, word);
      from.drain();
      oracle.put(key, new long[] {word});
    }

    void insert(long key, boolean pending) {
      long word = VersionWord.first(newVersion(), pending);
      undecided(key, word);
      boolean inserted = resizing.insert(key, word) != HashTable.NONE;
      to.drain();
      oracle.put(key, inserted ? new long[] {word} : new long[] {0});
    }

    void update(long key, boolean pending) {
      change(
          key,
          word -> VersionWord.update(word, newVersion(), pending),
          (table, slot, word, next) -> table.storeWord(slot, key, word, next));
    }

    /** Commits, or ends a lock that a crash has left. */
    void commit(long key) {
      HashTable in = tableOf(key);
      if (VersionWord.isLocked(in.versionWord(slot(in, key)))) {
        change(
            key, VersionWord::rollback, (table, slot, word, _) -> table.rollback(slot, key, word));
        return;
      }
      change(
          key,
          VersionWord::commit,
          (table, slot, word, next) -> table.storeWord(slot, key, word, next));
    }

    void empty(long key) {
      change(key, _ -> 0, (table, slot, word, _) -> table.empty(slot, key, word));
    }

    /** The next step in the life of some key. */
    void anyStep(RandomGenerator random) {
      long[] keys = keys();
      long key = keys[random.nextInt(keys.length)];
      boolean even = random.nextBoolean();
      if (!present(key)) {
        insert(key, even);
      } else if (VersionWord.pending(tableOf(key).versionWord(slot(tableOf(key), key)))) {
        commit(key);
      } else if (even) {
        update(key, random.nextBoolean());
      } else {
        empty(key);
      }
    }

    /** Moves some slots; pending entries stay. */
    void move(int slots) {
      resizing.doWork(slots, (slot, key, word) -> {});
    }

    /** A step that may change an entry. */
    private interface Change {
      /** Returns whether the entry had the word, and has the next one now. */
      boolean isDone(HashTable table, long slot, long word, long next);
    }

    /** Changes a key's word and drains. Another writer may come in between, again and again. */
    private void change(long key, LongUnaryOperator successor, Change change) {
      HashTable table = tableOf(key);
      long next;
      int replacements;
      boolean done;
      do {
        long slot = slot(table, key);
        replacements = replacements(key);
        long word = table.versionWord(slot);
        next = successor.applyAsLong(word);
        undecided(key, next);
        done = change.isDone(table, slot, word, next);
      } while (!done && replacements(key) > replacements);
      that(done, "a step on key word " + Long.toHexString(key) + " was refused");
      table.drain();
      decided(key, replacements, next);
    }

    private HashTable tableOf(long key) {
      return from.find(key, (s, w) -> true) != HashTable.NONE ? from : to;
    }

    private static long slot(HashTable table, long key) {
      long slot = table.find(key, (s, w) -> true);
      that(slot != HashTable.NONE, "key word " + Long.toHexString(key) + " is lost");
      return slot;
    }

    private boolean present(long key) {
      return from.find(key, (s, w) -> true) != HashTable.NONE
          || to.find(key, (s, w) -> true) != HashTable.NONE;
    }

    /** Takes what is seen for decided from now on. */
    private void decide() {
      for (long key : keys()) {
        if (!present(key)) {
          oracle.put(key, new long[] {0});
        } else {
          HashTable table = tableOf(key);
          oracle.put(key, new long[] {table.versionWord(slot(table, key))});
        }
      }
      // The server does this too before it serves.
      from.memory().flush(0, from.memory().segment().byteSize());
      from.drain();
      to.memory().flush(0, to.memory().segment().byteSize());
      to.drain();
    }

    private long[] keys() {
      return oracle.keySet().stream().mapToLong(Long::longValue).toArray();
    }

    /** Every second key lives on; the first slots are moved in the middle of it. */
    private void goOn() {
      int number = 0;
      for (long key : keys()) {
        if (number++ == oracle.size() / 2) {
          move(8);
        }
        if (number % 2 == 0) {
          continue;
        }
        if (!present(key)) {
          insert(key, false);
        } else if (VersionWord.pending(tableOf(key).versionWord(slot(tableOf(key), key)))) {
          commit(key);
        } else {
          update(key, false);
        }
      }
      insert(key(1, 500), false);
    }

    private void finish() {
      for (int i = 0; i < 100 && !resizing.done(); i++) {
        if (resizing.metNoRoom() && to.buckets() < from.buckets()) {
          turn();
        }
        resizing.doWork(
            16,
            (slot, key, word) -> {
              boolean locked = VersionWord.isLocked(word);
              long next = locked ? VersionWord.rollback(word) : VersionWord.commit(word);
              that(
                  locked ? from.rollback(slot, key, word) : from.storeWord(slot, key, word, next),
                  "an entry that nobody else decides changed");
              oracle.put(key, new long[] {next});
            });
      }
      that(resizing.done(), "the resizing does not end");
      from.forEach((slot, key, word) -> that(false, "left in the old table: " + slot));
    }

    void check() {
      Map<Long, Integer> entries = new TreeMap<>();
      long size = 0;
      for (HashTable table : new HashTable[] {from, to}) {
        table.check(finding ->
            that(
                finding instanceof TableFinding.LeftKeyWord
                    || (table == from && finding instanceof TableFinding.Moved)
                    || (table == from && finding instanceof TableFinding.InterruptedStretch),
                finding.getClass().getSimpleName() + ": " + finding.message()));
        table.forEach((slot, key, word) -> entries.merge(key, 1, Integer::sum));
        size += table.size();
      }
      long found = entries.values().stream().mapToInt(Integer::intValue).sum();
      that(size == found, "size " + size + " of " + found);
      oracle.forEach((key, allowed) -> checkKey(key, allowed, entries.getOrDefault(key, 0)));
      entries
          .keySet()
          .forEach(key ->
              that(oracle.containsKey(key), "key word " + Long.toHexString(key) + " from nowhere"));
    }

    private void checkKey(long key, long[] allowed, int entries) {
      long word = present(key) ? tableOf(key).versionWord(slot(tableOf(key), key)) : 0;
      that(
          isOneOf(word, allowed),
          "key word "
              + Long.toHexString(key)
              + " has "
              + VersionWord.toString(word)
              + ", not one of "
              + Arrays.stream(allowed).mapToObj(VersionWord::toString).toList());
      that(
          entries == (word == 0 ? 0 : 1),
          "key word " + Long.toHexString(key) + " has " + entries + " entries");
    }

    private static void that(boolean condition, String message) {
      if (!condition) {
        throw new AssertionError(message);
      }
    }
  }
}
