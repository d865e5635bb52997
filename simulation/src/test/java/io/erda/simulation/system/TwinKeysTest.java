package io.erda.simulation.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.erda.hashtable.Entry;
import io.erda.hashtable.KeyHash;
import io.erda.simulation.Seeds;
import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

final class TwinKeysTest {
  @Test
  void aTwinIsAnotherKeyWithTheSameKeyWord() {
    Seeds.each(
        1000,
        seed -> {
          RandomGenerator random = Seeds.random(seed);
          byte[] key = new byte[TwinKeys.KEY_BYTES];
          random.nextBytes(key);
          long hashSeed = random.nextLong();
          int heads = 1 << random.nextInt(8);
          MemorySegment one = MemorySegment.ofArray(key);
          MemorySegment other = MemorySegment.ofArray(TwinKeys.twin(key, hashSeed));
          assertNotEquals(-1, one.mismatch(other));
          assertEquals(keyWord(one, hashSeed, heads), keyWord(other, hashSeed, heads));
        });
  }

  private static long keyWord(MemorySegment key, long seed, int heads) {
    return Entry.keyWord(new KeyHash(seed).of(key, 0, key.byteSize()), heads);
  }
}
