package io.erda.eval.baselines;

import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The parameters of a store: 7 words, written once.
 *
 * @param seed of the key hash
 */
record BaselineSuperblock(BaselineGeometry geometry, BaselineKind kind, long seed) {
  static final String NAME = "baseline";

  private static final String UNFINISHED = "baseline.new";
  private static final long MAGIC = 0x6573_6142_6164_7245L; // "ErdaBase"
  private static final int WORDS = 7;
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

  /**
   * Creates the file. It is durable with its name when this returns, as are all files created
   * before.
   */
  void create(MemoryDirectory directory) throws IOException {
    directory.delete(UNFINISHED);
    try (PersistentMemory memory = directory.create(UNFINISHED, WORDS * Long.BYTES)) {
      long[] words = {
        MAGIC,
        kind.ordinal(),
        seed,
        geometry.buckets(),
        geometry.logBytes(),
        geometry.slabBytes(),
        geometry.chunkBytes()
      };
      for (int i = 0; i < WORDS; i++) {
        memory.putLongRelease((long) i * Long.BYTES, words[i]);
      }
      memory.flush(0, WORDS * Long.BYTES);
      memory.drain();
    }
    directory.sync();
    directory.rename(UNFINISHED, NAME);
    directory.sync();
  }

  static BaselineSuperblock read(MemoryDirectory directory) throws IOException {
    try (PersistentMemory memory = directory.open(NAME)) {
      MemorySegment words = memory.segment();
      if (words.byteSize() != WORDS * Long.BYTES || words.get(WORD, 0) != MAGIC) {
        throw new IllegalStateException("not the superblock of a baseline");
      }
      return new BaselineSuperblock(
          new BaselineGeometry(
              words.get(WORD, 24),
              (int) words.get(WORD, 32),
              words.get(WORD, 40),
              (int) words.get(WORD, 48)),
          BaselineKind.values()[(int) words.get(WORD, 8)],
          words.get(WORD, 16));
    }
  }
}
