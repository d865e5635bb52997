package io.erda.hashtable;

import io.erda.pmem.PersistentMemory;

/**
 * Keeps other writers from an entry while it is moved or removed. Where there are none, nothing is
 * stored.
 *
 * <p>A locked entry has a pending word whose two offsets are its newest version. So readers, who
 * take the older version of a pending word, see nothing of the lock, and other writers, who replace
 * decided words only, leave the entry alone. A lock that a crash leaves is rolled back like any
 * pending word of nobody's: the newest version stays, and the older one is forgotten.
 */
final class EntryLocks {
  private final PersistentMemory memory;

  /** Whether there are other writers. */
  private boolean shared;

  /** The slot of the entry that is pinned; {@link HashTable#NONE} when none is. */
  private long pinned = HashTable.NONE;

  /** The word that the pinned entry had. */
  private long pinnedWord;

  EntryLocks(PersistentMemory memory) {
    this.memory = memory;
  }

  /** See {@link HashTable#share}. */
  void share() {
    shared = true;
  }

  /**
   * Locks an entry. The caller flushes the entry.
   *
   * @return the word that the entry had; 0 when the entry is not in use, or pending
   */
  long lock(long slot) {
    while (true) {
      long word = TableLayout.versionWord(memory.segment(), slot);
      if (word == 0 || VersionWord.pending(word)) {
        return 0;
      }
      if (lock(slot, word)) {
        return word;
      }
    }
  }

  /** Locks an entry if it has this decided word. The caller flushes the entry. */
  boolean lock(long slot, long word) {
    if (isPinned(slot, word)) {
      pinned = HashTable.NONE;
      return true;
    }
    return swap(slot, word, locked(word));
  }

  /** See {@link HashTable#pin}. */
  long pin(long slot) {
    assert pinned == HashTable.NONE : "slot " + pinned + " is pinned";
    long word = lock(slot);
    if (word != 0) {
      pinned = slot;
      pinnedWord = word;
    }
    return word;
  }

  /** See {@link HashTable#unpin}. */
  void unpin() {
    if (pinned != HashTable.NONE) {
      unlock(pinned, pinnedWord);
      pinned = HashTable.NONE;
    }
  }

  private boolean isPinned(long slot, long word) {
    return slot == pinned && word == pinnedWord;
  }

  /** Whether an entry has this word, or had it when it was pinned. */
  boolean has(long slot, long word) {
    return isPinned(slot, word) || TableLayout.versionWord(memory.segment(), slot) == word;
  }

  /** Stores and flushes a word over the lock of its entry, where the entry is locked. */
  void unlock(long slot, long word) {
    if (VersionWord.isLocked(TableLayout.versionWord(memory.segment(), slot))) {
      long offset = TableLayout.entryOffset(slot) + Entry.VERSION_WORD_OFFSET;
      memory.putLongRelease(offset, word);
      memory.flush(offset, Long.BYTES);
    }
  }

  /**
   * Stores a word over another one, or over the lock of a pinned entry, which is not pinned any
   * more. The caller flushes it. Returns false when another word is there.
   */
  boolean replace(long slot, long expected, long next) {
    if (isPinned(slot, expected)) {
      pinned = HashTable.NONE;
      return swap(slot, locked(expected), next);
    }
    return swap(slot, expected, next);
  }

  private boolean swap(long slot, long expected, long next) {
    long offset = TableLayout.entryOffset(slot) + Entry.VERSION_WORD_OFFSET;
    if (shared) {
      return memory.compareAndSetLong(offset, expected, next);
    }
    if (TableLayout.versionWord(memory.segment(), slot) != expected) {
      return false;
    }
    if (next != expected) {
      memory.putLongRelease(offset, next);
    }
    return true;
  }

  /**
   * Returns the word of an entry that is locked and had {@code word}. A word without a version
   * can't be locked. Only damage makes such words, and nobody replaces them.
   */
  long locked(long word) {
    return !shared || VersionWord.newest(word) == VersionWord.NONE
        ? word
        : VersionWord.locked(word);
  }
}
