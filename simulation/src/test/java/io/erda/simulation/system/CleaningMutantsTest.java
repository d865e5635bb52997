package io.erda.simulation.system;

import io.erda.cleaner.Entries;
import io.erda.hashtable.VersionWord;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Deliberate defects of cleaning, between the cleaner and the table: the simulation finds them. */
final class CleaningMutantsTest {
  private static final int SEEDS_MAX = 2000;

  /** A sweep that ends early proves nothing. */
  @Test
  void freeTooEarly() {
    assertFound(
        SeamMutant.FREED_TOO_EARLY,
        entries ->
            new Defective(entries) {
              @Override
              public long sweep(long cursor, int count, Visitor visitor) {
                long next = super.sweep(cursor, (int) Math.min(count, slots() / 2), visitor);
                return next >= slots() / 2 ? NONE : next;
              }
            });
  }

  /** The word is decided on once and not looked up again. */
  @Test
  void loseAWriteMadeMeanwhile() {
    assertFound(
        SeamMutant.WRITE_LOST,
        entries ->
            new Defective(entries) {
              private final Map<Long, Long> seen = new HashMap<>();
              private final Map<String, Long> slots = new HashMap<>();

              @Override
              public long sweep(long cursor, int count, Visitor visitor) {
                if (cursor == 0) {
                  seen.clear();
                  slots.clear();
                }
                return super.sweep(
                    cursor,
                    count,
                    (slot, keyWord, word) -> {
                      seen.put(slot, word);
                      slots.put(keyWord + " " + VersionWord.newest(word), slot);
                      visitor.entry(slot, keyWord, word);
                    });
              }

              @Override
              public long find(long keyWord, int offset) {
                return slots.getOrDefault(keyWord + " " + offset, super.find(keyWord, offset));
              }

              @Override
              public long word(long slot) {
                return seen.getOrDefault(slot, super.word(slot));
              }

              @Override
              public boolean replace(long slot, long keyWord, long expected, long next) {
                return super.replace(slot, keyWord, super.word(slot), next);
              }
            });
  }

  /** The copy is named, but as the version that does not count. */
  @Test
  void wrongOffsetCounts() {
    assertFound(
        SeamMutant.WRONG_OFFSET,
        entries ->
            new Defective(entries) {
              @Override
              public boolean replace(long slot, long keyWord, long expected, long next) {
                boolean moved = VersionWord.newest(next) != VersionWord.newest(expected);
                return super.replace(slot, keyWord, expected, moved ? next ^ Long.MIN_VALUE : next);
              }
            });
  }

  /** Instead of its entry, the tombstone goes. */
  @Test
  void resurrectADeletedKey() {
    assertFound(
        SeamMutant.DELETED_KEY_BACK,
        entries ->
            new Defective(entries) {
              @Override
              public boolean empty(long slot, long keyWord, long expected) {
                int older = VersionWord.older(expected);
                return older == VersionWord.NONE
                    ? super.empty(slot, keyWord, expected)
                    : super.replace(slot, keyWord, expected, VersionWord.first(older, false));
              }
            });
  }

  /** Copies are not durable when the victim is retired. */
  @Test
  void wordsAreNotDrained() {
    assertFound(
        SeamMutant.WORDS_NOT_DRAINED,
        entries ->
            new Defective(entries) {
              @Override
              public void drain() {}
            });
  }

  private static void assertFound(SeamMutant which, UnaryOperator<Entries> defect) {
    which.assertFound(
        SEEDS_MAX,
        seed -> {
          Configuration configuration = Configuration.random(new SplittableRandom(seed));
          StoreUnderTest erda = new ErdaUnderTest(configuration, defect);
          return new SystemSimulation(
                  seed, configuration, erda, UnaryOperator.identity(), UnaryOperator.identity())
              .run()
              .failure();
        });
  }

  private static class Defective implements Entries {
    private final Entries entries;

    Defective(Entries entries) {
      this.entries = entries;
    }

    @Override
    public long sweep(long cursor, int count, Visitor visitor) {
      return entries.sweep(cursor, count, visitor);
    }

    @Override
    public boolean isBehind(long slot, long cursor) {
      return entries.isBehind(slot, cursor);
    }

    @Override
    public long layout() {
      return entries.layout();
    }

    @Override
    public long slots() {
      return entries.slots();
    }

    @Override
    public long find(long keyWord, int offset) {
      return entries.find(keyWord, offset);
    }

    @Override
    public long word(long slot) {
      return entries.word(slot);
    }

    @Override
    public boolean replace(long slot, long keyWord, long expected, long next) {
      return entries.replace(slot, keyWord, expected, next);
    }

    @Override
    public boolean empty(long slot, long keyWord, long expected) {
      return entries.empty(slot, keyWord, expected);
    }

    @Override
    public long decide(long slot, long keyWord, long word) {
      return entries.decide(slot, keyWord, word);
    }

    @Override
    public void drain() {
      entries.drain();
    }

    @Override
    public long keyWord(MemorySegment memory, long at, int length) {
      return entries.keyWord(memory, at, length);
    }
  }
}
