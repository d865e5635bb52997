package io.erda.cleaner;

import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.CleaningSpace;
import io.erda.logstore.CopySpace;
import io.erda.logstore.FileSupply;
import io.erda.logstore.LinkedRegions;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import java.lang.foreign.MemorySegment;

/**
 * One victim, from sealing it to the proof that nobody names it. Steps of some tens of
 * microseconds; between two of them anything may happen to any entry, so every store looks the word
 * up again.
 *
 * <p><b>Rounds.</b> A sweep over the table marks the places that words name; then each is copied,
 * in the order of places, and its word changed. The first round is the paper's merging, the further
 * ones its replication: they find what was in the middle of a commit. A sweep that finds nothing is
 * the proof that the region may go: no writer holds space in it any more, and no word comes to name
 * a place again that it no longer names.
 *
 * <p><b>Space.</b> The live objects of a region, packed in the order of their places, never need
 * more than was measured, because objects only die meanwhile ({@link LogGeometry#placeBehind}).
 *
 * <p><b>Crash.</b> Copies are durable before a word names them, and the copy space's beginning is
 * durably behind them by then. So whatever a crash leaves: words name whole objects, of the victim
 * or the target; copies that no word names are garbage that is not written over; and a cleaning
 * that goes on with the rest of the copy space finds the rest of the objects in the victim.
 */
final class Cleaning {
  /** Slots that a step of a sweep looks at: of a large table more, for a sweep to end. */
  private static final int SWEEP_SLOTS_MIN = 64;

  private static final int SWEEP_SLOTS_MAX = 512;
  private static final int SWEEP_STEPS = 4096;
  private static final int NAMED_A_STEP = 4;
  private static final int LOOKED_A_STEP = 4;

  /** Marked places whose objects and entries are loaded together, before they are looked at. */
  private static final int LOADED = 16;

  private static final int BYTES_A_STEP = 4 << 10;

  /**
   * At most so many bytes of the victim are read from its device ahead of the place that is copied.
   */
  private static final long AHEAD_BYTES_MAX = 1 << 20;

  /** The kernel is told so much at a time: of more it may read the beginning only. */
  private static final int WINDOWS_AHEAD = 8;

  /** The values that {@link #step} returns. */
  enum Outcome {
    GOES_ON,
    /** Nothing to do before something happens elsewhere. */
    WAITS,
    /** Nobody names the victim, durably. */
    DONE,
    /** Too little would be gained. */
    NO_GAIN,
    /** There is no room for the copies: no other region, or no file for it. */
    NO_ROOM,
    /** The copies don't fit behind what the head appends to, and nothing else was wanted. */
    TOO_LARGE,
    /** Objects that are named are damaged: they stay where they are. */
    DAMAGED
  }

  private final CleaningSpace space;
  private final LinkedRegions linked;
  private final FileSupply files;
  private final LogGeometry geometry;
  private final Entries entries;
  private final LiveBytes live;
  private final PlaceSet places;
  private final Copier copier;
  private final Region victim;

  /** The bits that all offsets in the victim have in common: those of the mask for regions. */
  private final int offsetBits;

  private final Entries.Visitor marking = this::mark;
  private final long gainMin;
  private final boolean onlyBehind;
  private final long writersUntilNs;
  private final Writers writers;

  /** How often a file could not be made before this cleaning began. */
  private final long failures;

  private Phase phase = Phase.WRITERS;
  private CopySpace copySpace;
  private boolean settled;
  private boolean overflowed;
  private int round;
  private long cursor;
  private long layout;
  private int sweepSlots;
  private boolean found;

  /** Whether a word that names the victim can't be what anybody stored. */
  private boolean damagedWord;

  private boolean carries;
  private long markedInRound;
  private long damagedInRound;
  private long resolvedInRound;
  private long laterInRound;

  /**
   * {@link #laterInRound} of the round before. A word that was pending then may be committed now,
   * so that its place is marked for the first time.
   */
  private long laterBefore;

  // What is loaded ahead.

  private final long[] loadedPlaces = new long[LOADED];
  private final long[] loadedKeyWords = new long[LOADED];

  /** How many of the next places are. */
  private int loaded;

  /** Kept so that the loads are not left out. */
  @SuppressWarnings("unused")
  private int loadedLengths;

  /** Up to where the victim is in memory, or comes. */
  private long readTo;

  private long measuredTo;
  private long packedFresh;
  private long packedAligned;
  private long packedOnward;
  private long bytesLive;

  /**
   * @param interrupted the copy space that an earlier run had set aside, or null
   * @param gainMin the least that must be free afterwards, bytes
   * @param onlyBehind whether it ends where the copies don't fit behind what the head appends to
   */
  Cleaning(
      LogStore log,
      Entries entries,
      LiveBytes live,
      Writers writers,
      PlaceSet places,
      Copier copier,
      Region victim,
      CopySpace interrupted,
      long gainMin,
      boolean onlyBehind,
      long writersUntilNs) {
    this.space = log.cleaning();
    this.linked = log.linked();
    this.files = log.files();
    this.geometry = log.geometry();
    this.entries = entries;
    this.live = live;
    this.writers = writers;
    this.places = places;
    this.copier = copier;
    this.victim = victim;
    this.offsetBits = geometry.offset(victim.index(), 0);
    this.copySpace = interrupted;
    this.gainMin = gainMin;
    this.onlyBehind = onlyBehind;
    this.writersUntilNs = writersUntilNs;
    this.bytesLive = live.of(victim);
    this.failures = files.failures();
    places.clear();
    space.seal(victim);
  }

  Region victim() {
    return victim;
  }

  CopySpace copySpace() {
    return copySpace;
  }

  Phase phase() {
    return phase;
  }

  /** How far the phase is, thousandths. */
  long progress() {
    return switch (phase) {
      case IDLE, WRITERS -> 0;
      case MARK -> 1000 * cursor / Math.max(1, entries.slots());
      case MEASURE -> 1000 * Math.max(0, measuredTo) / geometry.regionBytes();
      case MERGE, REPLICATE ->
          markedInRound == 0 ? 0 : 1000 * (markedInRound - places.size()) / markedInRound;
    };
  }

  /** How often it copied what a sweep had found. */
  int rounds() {
    return round;
  }

  /** Live bytes of the victim: measured, or before that estimated; −1 when not known. */
  long bytesLive() {
    return bytesLive;
  }

  long damaged() {
    return damagedInRound;
  }

  Outcome step(long nowNs) {
    return switch (phase) {
      case IDLE -> throw new IllegalStateException("not a phase of a cleaning");
      case WRITERS -> waitForWriters(nowNs);
      case MARK -> mark();
      case MEASURE -> measure();
      case MERGE, REPLICATE -> relocate();
    };
  }

  private Outcome waitForWriters(long nowNs) {
    if (linked.hasOpenExtents(victim)) {
      if (nowNs - writersUntilNs < 0) {
        return Outcome.WAITS;
      }
      writers.end(victim);
      if (linked.hasOpenExtents(victim)) {
        // What is published there could not be made durable: who writes there may publish yet.
        return Outcome.WAITS;
      }
    }
    assert !linked.hasOpenExtents(victim) : "somebody may still write to region " + victim;
    beginSweep();
    return Outcome.GOES_ON;
  }

  // Mark.

  private void beginSweep() {
    phase = Phase.MARK;
    cursor = 0;
    laterInRound = 0;
    layout = entries.layout();
    sweepSlots = Math.clamp(entries.slots() / SWEEP_STEPS, SWEEP_SLOTS_MIN, SWEEP_SLOTS_MAX);
    found = false;
    carries = false;
  }

  private Outcome mark() {
    if (entries.layout() != layout) {
      places.clear();
      beginSweep();
    }
    cursor = entries.sweep(cursor, sweepSlots, geometry.regionMask(), offsetBits, marking);
    if (cursor != Entries.NONE) {
      return Outcome.GOES_ON;
    }
    cursor = 0;
    if (damagedWord) {
      return Outcome.DAMAGED;
    }
    if (!found) {
      entries.drain();
      return Outcome.DONE;
    }
    boolean later = laterInRound > 0 || laterBefore > 0;
    boolean stuck = round > 0 && settled && resolvedInRound == 0 && !later;
    if (stuck && places.size() > 0) {
      return Outcome.DAMAGED;
    }
    markedInRound = places.size();
    if (settled) {
      beginRelocating();
    } else {
      phase = Phase.MEASURE;
      readTo = 0;
      measuredTo = 0;
      packedFresh = Region.HEADER_BYTES;
      packedAligned = 0;
      packedOnward = copySpace == null ? 0 : copySpace.next();
    }
    return Outcome.GOES_ON;
  }

  /** Marks what an entry names in the victim, and forgets older versions that do not count. */
  private void mark(long slot, long keyWord, long seen) {
    if (Entry.headOf(keyWord) != victim.head() || !names(seen)) {
      return;
    }
    long word = VersionWord.pending(seen) ? entries.decide(slot, keyWord, seen) : seen;
    if (!names(word)) {
      return;
    }
    found = true;
    boolean pending = VersionWord.pending(word);
    if (inVictim(VersionWord.newest(word))) {
      if (!pending) {
        places.add(geometry.place(VersionWord.newest(word)));
        return;
      }
      laterInRound++;
    }
    if (inVictim(VersionWord.older(word))) {
      if (pending) {
        carries = true;
        places.add(geometry.place(VersionWord.older(word)));
      } else {
        if (VersionWord.newest(word) == VersionWord.NONE) {
          // A committed word always has a newest version, so this one is damaged, and what it names
          // may be all that is left of its key.
          damagedWord = true;
        } else {
          entries.replace(slot, keyWord, word, VersionWord.withOlder(word, VersionWord.NONE));
        }
      }
    }
  }

  private boolean names(long word) {
    return inVictim(VersionWord.newest(word)) || inVictim(VersionWord.older(word));
  }

  private boolean inVictim(int offset) {
    return offset != VersionWord.NONE && geometry.regionIndex(offset) == victim.index();
  }

  // Measure.

  private Outcome measure() {
    MemorySegment memory = victim.memory().segment();
    int count = places.from(measuredTo, loadedPlaces);
    if (count == 0) {
      return setAside();
    }
    readAhead(loadedPlaces[0]);
    loadLengths(memory, count);
    for (int i = 0; i < count; i++) {
      long place = loadedPlaces[i];
      if (ObjectLayout.plausible(memory, place, geometry.room(place))
          && (carries || !ObjectLayout.tombstone(memory, place))) {
        int padded =
            ObjectLayout.padded(
                ObjectLayout.bytes(
                    ObjectLayout.keyLength(memory, place),
                    ObjectLayout.valueLength(memory, place)));
        packedFresh = geometry.placeBehind(packedFresh, padded) + padded;
        packedAligned = geometry.placeBehind(packedAligned, padded) + padded;
        packedOnward = geometry.placeBehind(packedOnward, padded) + padded;
      }
      measuredTo = place + ObjectLayout.ALIGNMENT;
    }
    return Outcome.GOES_ON;
  }

  /** Places are looked at in their order, from this one on. */
  private void readAhead(long place) {
    long aheadBytes = Math.min(AHEAD_BYTES_MAX, geometry.regionBytes() / 2);
    long window = aheadBytes / WINDOWS_AHEAD;
    readTo = Math.max(readTo, place);
    while (readTo < Math.min(place + aheadBytes, geometry.regionBytes())) {
      long length = Math.min(window, geometry.regionBytes() - readTo);
      victim.memory().readAhead(readTo, length);
      readTo += length;
    }
  }

  private Outcome setAside() {
    long bytes = packedFresh - Region.HEADER_BYTES;
    live.set(victim, bytes);
    if (!settled && round == 0) {
      bytesLive = bytes;
    }
    settled = true;
    // What a crash wasted of an interrupted copy space may be missing at its end: then it is filled
    // all the same, and what remains is measured again and needs little.
    if (copySpace != null && (!overflowed || packedOnward <= copySpace.end())) {
      beginRelocating();
      return Outcome.GOES_ON;
    }
    if (copySpace == null && geometry.regionBytes() - bytes < gainMin) {
      return Outcome.NO_GAIN;
    }
    if (copySpace == null && onlyBehind && bytes > 0 && !space.fitsBehind(victim, packedAligned)) {
      return Outcome.TOO_LARGE;
    }
    if (bytes > 0) {
      CopySpace other = space.setAside(victim, packedFresh, packedAligned);
      if (other == null) {
        boolean comes = files.making() && files.failures() == failures;
        return comes ? Outcome.WAITS : Outcome.NO_ROOM;
      }
      copySpace = other;
      overflowed = false;
    }
    beginRelocating();
    return Outcome.GOES_ON;
  }

  // Merge and replicate.

  private void beginRelocating() {
    phase = round++ == 0 ? Phase.MERGE : Phase.REPLICATE;
    readTo = 0;
    damagedInRound = 0;
    resolvedInRound = 0;
  }

  private Outcome relocate() {
    if (copier.naming()) {
      resolvedInRound += name();
    } else if (copier.copying()) {
      copyOn();
    } else if (!lookFurther()) {
      if (copier.isEmpty()) {
        laterBefore = laterInRound;
        beginSweep();
        return laterBefore > 0 ? Outcome.WAITS : Outcome.GOES_ON;
      }
      copier.beginNaming(copySpace);
    }
    return Outcome.GOES_ON;
  }

  /** Takes marked places until there is something to copy. Returns false when none is left. */
  private boolean lookFurther() {
    long end = copier.copiedBytes() + BYTES_A_STEP;
    for (int i = 0; i < LOOKED_A_STEP && copier.copiedBytes() < end; i++) {
      if (copier.isFull()) {
        copier.beginNaming(copySpace);
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
   * Loads the objects at the next places, then the entries of their keys: the cache misses of many
   * are under way at a time. Nothing is believed of what is loaded here.
   */
  private void load() {
    MemorySegment memory = victim.memory().segment();
    loaded = places.lowest(loadedPlaces);
    if (loaded > 0) {
      readAhead(loadedPlaces[0]);
    }
    loadLengths(memory, loaded);
    int count = 0;
    for (int i = 0; i < loaded; i++) {
      long place = loadedPlaces[i];
      long room = geometry.room(place);
      // Loaded once: nobody knows what is there.
      int keyLength = ObjectLayout.keyLength(memory, place);
      if (room >= ObjectLayout.BYTES_MIN
          && ObjectLayout.plausibleBytes(ObjectLayout.firstWord(memory, place), keyLength, room)
              != 0) {
        loadedKeyWords[count++] =
            entries.keyWord(memory, place + ObjectLayout.KEY_OFFSET, keyLength);
      }
    }
    entries.findSoon(loadedKeyWords, count);
  }

  private void loadLengths(MemorySegment memory, int count) {
    int lengths = 0;
    for (int i = 0; i < count; i++) {
      lengths += ObjectLayout.keyLength(memory, loadedPlaces[i]);
    }
    loadedLengths = lengths;
  }

  private void look(long place) {
    MemorySegment memory = victim.memory().segment();
    if (!ObjectLayout.plausible(memory, place, geometry.room(place))) {
      damagedInRound++;
      return;
    }
    int keyLength = ObjectLayout.keyLength(memory, place);
    boolean tombstone = ObjectLayout.tombstone(memory, place);
    int offset = geometry.offset(victim.index(), place);
    long keyWord = entries.keyWord(memory, place + ObjectLayout.KEY_OFFSET, keyLength);
    long slot = entries.find(keyWord, offset);
    if (slot == Entries.NONE) {
      // The object died since it was marked; or its key is damaged, and the next sweep finds it.
      damagedInRound++;
      return;
    }
    long word = entries.word(slot);
    switch (Fate.of(word, offset, tombstone)) {
      case DEAD -> resolvedInRound++;
      case LATER -> laterInRound++;
      case FORGET -> {
        entries.replace(slot, keyWord, word, VersionWord.withOlder(word, VersionWord.NONE));
        resolvedInRound++;
      }
      case EMPTY -> empty(slot, keyWord, word, place, offset);
      case COPY -> copy(place, offset, keyWord);
    }
  }

  /**
   * Empties a deleted key's entry, if its tombstone is whole: a damaged one may have been a value.
   */
  private void empty(long slot, long keyWord, long word, long place, int offset) {
    if (copier.isWhole(victim, place, offset) && entries.empty(slot, keyWord, word)) {
      resolvedInRound++;
    } else {
      damagedInRound++;
    }
  }

  private void copy(long place, int offset, long keyWord) {
    if (copySpace == null || !copier.begin(victim, place, offset, keyWord, copySpace)) {
      // There is more than was measured: a crash wasted some of the copy space, or a tombstone is
      // carried.
      laterInRound++;
      settled = false;
      overflowed = true;
    }
  }

  private void copyOn() {
    if (copier.copyOn(BYTES_A_STEP) == Copier.Result.DAMAGED) {
      damagedInRound++;
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
    long word = entries.word(slot);
    switch (Fate.of(word, from, false)) {
      case COPY -> {
        entries.replace(
            slot, keyWord, word, Fate.moved(word, from, to, inVictim(VersionWord.older(word))));
        live.add(victim, -copier.nextBytes());
        live.add(copySpace.region(), copier.nextBytes());
      }
      case FORGET ->
          entries.replace(slot, keyWord, word, VersionWord.withOlder(word, VersionWord.NONE));
      case LATER -> {
        laterInRound++;
        return 0;
      }
      case DEAD, EMPTY -> {
        // Nothing names the object any more, and its copy is garbage.
      }
    }
    return 1;
  }
}
