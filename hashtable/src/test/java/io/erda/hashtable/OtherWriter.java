package io.erda.hashtable;

import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.PersistentMemory;
import java.util.random.RandomGenerator;

/**
 * The memory of a table beside another writer, who replaces decided words of the table between any
 * two accesses of the server. Every second of its stores is durable at once, so that an older word
 * must never come back; the others are as durable as any store that nobody drained.
 */
final class OtherWriter extends ForwardingMemory {
  /** Hears of the words that were replaced. */
  interface Listener {
    /** Returns the offset of a new version. */
    int newVersion();

    /**
     * @param durable whether the word is durable already
     */
    void replaced(long keyWord, long next, boolean durable);
  }

  private final CrashMemory.Another stores;
  private final RandomGenerator random;
  private final Listener listener;
  private boolean begun;

  OtherWriter(
      PersistentMemory memory,
      CrashMemory.Another stores,
      RandomGenerator random,
      Listener listener) {
    super(memory);
    this.stores = stores;
    this.random = random;
    this.listener = listener;
  }

  /** The other writer begins; before, the table is being opened. */
  void begin() {
    begun = true;
  }

  void end() {
    begun = false;
  }

  @Override
  public void putLongRelease(long offset, long value) {
    act();
    super.putLongRelease(offset, value);
  }

  @Override
  public boolean compareAndSetLong(long offset, long expected, long value) {
    act();
    return super.compareAndSetLong(offset, expected, value);
  }

  @Override
  public void flush(long offset, long length) {
    act();
    super.flush(offset, length);
  }

  @Override
  public void drain() {
    act();
    super.drain();
  }

  private void act() {
    if (!begun || random.nextInt(3) > 0) {
      return;
    }
    long slots = (segment().byteSize() - TableLayout.ENTRIES_OFFSET) / Entry.BYTES;
    long slot =
        switch (random.nextInt(4)) {
          case 0 -> TableLayout.load(segment(), TableLayout.SOURCE_OFFSET);
          case 1 -> TableLayout.load(segment(), TableLayout.DESTINATION_OFFSET);
          default -> random.nextLong(slots);
        };
    long word = TableLayout.versionWord(segment(), slot);
    if (word == 0 || VersionWord.pending(word)) {
      return;
    }
    long next = VersionWord.update(word, listener.newVersion(), false);
    boolean durable = random.nextBoolean();
    stores.store(TableLayout.entryOffset(slot) + Entry.VERSION_WORD_OFFSET, next, durable);
    listener.replaced(TableLayout.keyWord(segment(), slot), next, durable);
  }
}
