package io.erda.server.engine.tables;

import io.erda.hashtable.Entry;
import io.erda.hashtable.KeyHash;
import java.lang.foreign.MemorySegment;

/** How a store turns keys into key words: with the seed and the heads of its superblock. */
public final class KeyWords {
  private final KeyHash hash;
  private final int heads;

  public KeyWords(long seed, int heads) {
    this.hash = new KeyHash(seed);
    this.heads = heads;
  }

  /** The key word of {@code length} key bytes. */
  public long of(MemorySegment memory, long at, int length) {
    return Entry.keyWord(hash.of(memory, at, length), heads);
  }
}
