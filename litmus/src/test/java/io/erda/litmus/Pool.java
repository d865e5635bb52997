package io.erda.litmus;

import io.erda.pmem.HeapDirectory;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicLong;

/** Zeroed stretches of one memory for states, of which jcstress makes some hundred at a time. */
public final class Pool {
  private static final int SLOTS = 1 << 13;

  private final AtomicLong next = new AtomicLong();
  private final PersistentMemory memory;
  private final long bytes;

  /**
   * @param bytes of each, a multiple of 64
   */
  public Pool(long bytes) {
    this.bytes = bytes;
    try {
      this.memory = new HeapDirectory().create("pool", SLOTS * bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public PersistentMemory memory() {
    return memory;
  }

  /** Where the next one begins in the memory; the oldest is used again. */
  public long take() {
    long at = next.getAndIncrement() % SLOTS * bytes;
    memory.segment().asSlice(at, bytes).fill((byte) 0);
    return at;
  }
}
