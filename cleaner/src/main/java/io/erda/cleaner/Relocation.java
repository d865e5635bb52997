package io.erda.cleaner;

import io.erda.hashtable.VersionWord;
import io.erda.logstore.CopySpace;
import io.erda.logstore.ObjectLayout;

/**
 * Copies the objects at the marked places, in the order of the places, and makes their words name
 * the copies. Copies become durable together, before the first of their words is changed.
 */
final class Relocation {
  private static final int NAMED_A_STEP = 4;
  private static final int LOOKED_A_STEP = 4;
  private static final int BYTES_A_STEP = 4 << 10;

  private final Entries entries;
  private final LiveBytes live;
  private final Victim victim;
  private final PlaceSet places;
  private final Copier copier;

  /** Marked places whose objects and entries are loaded together, before they are examined. */
  private final long[] ahead = new long[Victim.LOADED];

  private final long[] keyWordsAhead = new long[Victim.LOADED];

  /** How many of the next places are loaded. */
  private int loaded;

  private CopySpace space;
  private long damaged;
  private long resolved;
  private long later;
  private boolean overflowed;

  Relocation(Entries entries, LiveBytes live, Victim victim, PlaceSet places, Copier copier) {
    this.entries = entries;
    this.live = live;
    this.victim = victim;
    this.places = places;
    this.copier = copier;
  }

  /**
   * Begins.
   *
   * @param into null when nothing is to be copied
   */
  void begin(CopySpace into) {
    space = into;
    victim.rewind();
    damaged = 0;
    resolved = 0;
    later = 0;
    overflowed = false;
  }

  /** Takes one step. Returns whether all marked places are done. */
  boolean step() {
    if (copier.naming()) {
      resolved += name();
    } else if (copier.copying()) {
      copyOn();
    } else if (!lookFurther()) {
      if (copier.isEmpty()) {
        return true;
      }
      copier.beginNaming(space);
    }
    return false;
  }

  /** Places whose objects, or whose keys, are damaged. */
  long damaged() {
    return damaged;
  }

  /** Number of places that no word names any more. */
  long resolved() {
    return resolved;
  }

  /** Number of places that remain for a later round. */
  long later() {
    return later;
  }

  /** Whether the copies needed more space than the copy space had. */
  boolean overflowed() {
    return overflowed;
  }

  /** Takes marked places until one must be copied. Returns false when none is left. */
  private boolean lookFurther() {
    long end = copier.copiedBytes() + BYTES_A_STEP;
    for (int i = 0; i < LOOKED_A_STEP && copier.copiedBytes() < end; i++) {
      if (copier.isFull()) {
        copier.beginNaming(space);
        return true;
      }
      if (loaded == 0) {
        load();
      }
      long place = places.take();
      if (place < 0) {
        return false;
      }
      loaded = Math.max(0, loaded - 1);
      look(place);
      if (copier.copying()) {
        copyOn();
        if (copier.copying()) {
          return true;
        }
      }
    }
    return true;
  }

  /**
   * Loads the objects at the next places, then the entries of their keys. The loaded values are not
   * used.
   */
  private void load() {
    loaded = places.lowest(ahead);
    victim.loadAhead(ahead, loaded);
    int count = 0;
    for (int i = 0; i < loaded; i++) {
      long place = ahead[i];
      long room = victim.geometry.room(place);
      // The length is loaded once, because the bytes may be damaged.
      int keyLength = ObjectLayout.keyLength(victim.memory, place);
      if (room >= ObjectLayout.BYTES_MIN
          && ObjectLayout.plausibleBytes(
                  ObjectLayout.firstWord(victim.memory, place), keyLength, room)
              != 0) {
        keyWordsAhead[count++] =
            entries.keyWord(victim.memory, place + ObjectLayout.KEY_OFFSET, keyLength);
      }
    }
    entries.findSoon(keyWordsAhead, count);
  }

  private void look(long place) {
    if (!ObjectLayout.plausible(victim.memory, place, victim.geometry.room(place))) {
      damaged++;
      return;
    }
    int keyLength = ObjectLayout.keyLength(victim.memory, place);
    boolean tombstone = ObjectLayout.tombstone(victim.memory, place);
    int offset = victim.geometry.offset(victim.region.index(), place);
    long keyWord = entries.keyWord(victim.memory, place + ObjectLayout.KEY_OFFSET, keyLength);
    long slot = entries.find(keyWord, offset);
    if (slot == Entries.NONE) {
      // The object has died since it was marked, or its key is damaged. The next sweep shows which.
      damaged++;
      return;
    }
    while (!isDecided(slot, keyWord, place, offset, tombstone)) {
      // Another writer has changed the word. After two changes the word does not name the object.
    }
  }

  /**
   * Decides about an object by the word of its key. Returns false when another writer has changed
   * the word since it was loaded.
   */
  private boolean isDecided(long slot, long keyWord, long place, int offset, boolean tombstone) {
    long word = entries.word(slot);
    switch (Fate.of(word, offset, tombstone)) {
      case DEAD -> resolved++;
      case LATER -> later++;
      case FORGET -> {
        forget(slot, keyWord, word);
        resolved++;
      }
      case EMPTY -> {
        if (!copier.isWhole(victim.region, place, offset)) {
          // A damaged object may have been a value.
          damaged++;
        } else if (entries.empty(slot, keyWord, word)) {
          resolved++;
        } else if (entries.word(slot) != word) {
          return false;
        } else {
          damaged++;
        }
      }
      case COPY -> copy(place, offset, keyWord);
    }
    return true;
  }

  /** Another writer that has changed the word has dropped the older version by that. */
  private void forget(long slot, long keyWord, long word) {
    entries.replace(slot, keyWord, word, VersionWord.withOlder(word, VersionWord.NONE));
  }

  private void copy(long place, int offset, long keyWord) {
    if (space == null || !copier.begin(victim.region, place, offset, keyWord, space)) {
      // The copies need more space than was measured, because a crash wasted some of the copy
      // space, or a tombstone is copied, too.
      later++;
      overflowed = true;
    }
  }

  private void copyOn() {
    if (copier.copyOn(BYTES_A_STEP) == Copier.Result.DAMAGED) {
      damaged++;
    }
  }

  private int name() {
    int named = 0;
    for (int i = 0; i < NAMED_A_STEP && copier.naming(); i++) {
      named += name(copier.nextFrom(), copier.nextTo(), copier.nextKeyWord());
      copier.named();
    }
    return named;
  }

  private int name(int from, int to, long keyWord) {
    long slot = entries.find(keyWord, from);
    if (slot == Entries.NONE) {
      return 1;
    }
    while (true) {
      long word = entries.word(slot);
      Fate fate = Fate.of(word, from, false);
      if (fate == Fate.LATER) {
        later++;
        return 0;
      }
      if (isNamed(slot, keyWord, word, fate, from, to)) {
        return 1;
      }
    }
  }

  /** Returns false when another writer has changed the word since it was loaded. */
  private boolean isNamed(long slot, long keyWord, long word, Fate fate, int from, int to) {
    switch (fate) {
      case COPY -> {
        boolean both = victim.holds(VersionWord.older(word));
        if (!entries.replace(slot, keyWord, word, Fate.moved(word, from, to, both))) {
          // If the word is the same, the entry can't be changed, and the next sweep examines it.
          return entries.word(slot) == word;
        }
        live.add(victim.region, -copier.nextBytes());
        live.add(space.region(), copier.nextBytes());
      }
      case FORGET -> forget(slot, keyWord, word);
      default -> {
        // No word names the object any more, and its copy is garbage.
      }
    }
    return true;
  }
}
