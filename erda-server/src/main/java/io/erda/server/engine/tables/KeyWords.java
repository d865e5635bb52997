package io.erda.server.engine.tables;

import io.erda.hashtable.Entry;
import io.erda.hashtable.KeyHash;
import java.lang.foreign.MemorySegment;

/** Makes key words of keys, with the seed and the number of heads of the superblock. */
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
