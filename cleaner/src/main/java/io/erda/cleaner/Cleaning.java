package io.erda.cleaner;

import io.erda.logstore.CleaningSpace;
import io.erda.logstore.CopySpace;
import io.erda.logstore.FileSupply;
import io.erda.logstore.LinkedRegions;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogStore;
import io.erda.logstore.Region;

/**
 * The cleaning of one victim, from sealing it to the proof that no word names a place in it. It
 * works in steps of some tens of microseconds. Any entry may change between two steps, so every
 * store looks up the word again.
 *
 * <p><b>Rounds.</b> A sweep over the table marks the places in the victim that words name. Then the
 * object at each marked place is copied, in the order of places, and its word is changed. The first
 * round is the paper's merging. Further rounds are the paper's replication: they find objects that
 * were being committed. A sweep that finds no such word proves that the region may be retired,
 * because no writer has space in it any more, and a word never names a place again after it has
 * stopped naming it.
 *
 * <p><b>Space.</b> The live objects of a region, packed in the order of their places, never need
 * more space than was measured, because in the meantime objects only die ({@link
 * LogGeometry#placeBehind}).
 *
 * <p><b>Crash.</b> Before a word names a copy, the copy is durable, and the stored beginning of the
 * copy space is durably after it. So after a crash each word names a whole object, in the victim or
 * the target. Copies that no word names are garbage, and are not overwritten. A cleaning that goes
 * on with the rest of the copy space finds the remaining objects in the victim.
 */
final class Cleaning {
  /** The results of {@link #step}. */
  enum Outcome {
    GOES_ON,
    /** The cleaning waits for another part of the server. */
    WAITS,
    /** No word names a place in the victim, durably. */
    DONE,
    /** The cleaning would gain too little. */
    NO_GAIN,
    /** There is no room for the copies: there is no other region, or no file for it. */
    NO_ROOM,
    /**
     * The copies do not fit into the region to which the head appends, and the plan allows no other
     * region.
     */
    TOO_LARGE,
    /** Objects that words name are damaged. They stay where they are. */
    DAMAGED
  }

  /**
   * The parameters of a cleaning.
   *
   * @param interrupted the copy space that an earlier run had set aside, or null
   * @param gainMin the least bytes that must be gained
   * @param onlyBehind whether to end when the copies don't fit into the region that the head
   *     appends to
   * @param writersUntilNs when leases in the victim are ended
   */
  record Plan(
      Region victim,
      CopySpace interrupted,
      long gainMin,
      boolean onlyBehind,
      long writersUntilNs) {}

  private final Plan plan;
  private final Region victim;
  private final CleaningSpace space;
  private final LinkedRegions linked;
  private final FileSupply files;
  private final Entries entries;
  private final LiveBytes live;
  private final Writers writers;
  private final PlaceSet places;
  private final Sweep sweep;
  private final Measurement measurement;
  private final Relocation relocation;
  private final long regionBytes;

  /** The number of files that could not be made before this cleaning began. */
  private final long failures;

  private Phase phase = Phase.WRITERS;
  private CopySpace copySpace;

  /**
   * Whether the places that the sweep found were measured, and all copies have fitted since then.
   */
  private boolean measured;

  private int round;
  private long markedInRound;

  /**
   * Number of pending words in the previous round. One of them may be committed now, so that its
   * place is marked for the first time.
   */
  private long laterBefore;

  private long bytesLive;

  Cleaning(
      LogStore log,
      Entries entries,
      LiveBytes live,
      Writers writers,
      PlaceSet places,
      Copier copier,
      Plan plan) {
    this.plan = plan;
    this.victim = plan.victim();
    this.copySpace = plan.interrupted();
    this.space = log.cleaning();
    this.linked = log.linked();
    this.files = log.files();
    this.entries = entries;
    this.live = live;
    this.writers = writers;
    this.places = places;
    this.regionBytes = log.geometry().regionBytes();
    Victim named = new Victim(victim, log.geometry());
    this.sweep = new Sweep(entries, named, places);
    this.measurement = new Measurement(named, places);
    this.relocation = new Relocation(entries, live, named, places, copier);
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

  /** The progress of the phase, thousandths. */
  long progress() {
    return switch (phase) {
      case IDLE, WRITERS -> 0;
      case MARK -> sweep.progress();
      case MEASURE -> measurement.progress();
      case MERGE, REPLICATE ->
          markedInRound == 0 ? 0 : 1000 * (markedInRound - places.size()) / markedInRound;
    };
  }

  /** Number of sweeps whose objects were copied. */
  int rounds() {
    return round;
  }

  /** Live bytes of the victim: measured, or estimated before that; −1 when not known. */
  long bytesLive() {
    return bytesLive;
  }

  long damaged() {
    return relocation.damaged();
  }

  Outcome step(long nowNs) {
    return switch (phase) {
      case IDLE -> throw new IllegalStateException("not a phase of a cleaning");
      case WRITERS -> waitForWriters(nowNs);
      case MARK -> sweep.step() ? swept() : Outcome.GOES_ON;
      case MEASURE -> measurement.step(sweep.carries()) ? setAside() : Outcome.GOES_ON;
      case MERGE, REPLICATE -> relocation.step() ? relocated() : Outcome.GOES_ON;
    };
  }

  private Outcome waitForWriters(long nowNs) {
    if (linked.hasOpenExtents(victim)) {
      if (nowNs - plan.writersUntilNs() < 0) {
        return Outcome.WAITS;
      }
      writers.end(victim);
      if (linked.hasOpenExtents(victim)) {
        // Publications in the victim could not be made durable, so writers may still publish in it.
        return Outcome.WAITS;
      }
    }
    assert !linked.hasOpenExtents(victim) : "somebody may still write to region " + victim;
    beginSweep();
    return Outcome.GOES_ON;
  }

  private void beginSweep() {
    phase = Phase.MARK;
    sweep.begin();
  }

  private Outcome swept() {
    if (sweep.damagedWord()) {
      return Outcome.DAMAGED;
    }
    if (!sweep.found()) {
      entries.drain();
      return Outcome.DONE;
    }
    boolean later = sweep.later() > 0 || laterBefore > 0;
    boolean stuck = round > 0 && measured && relocation.resolved() == 0 && !later;
    if (stuck && places.size() > 0) {
      return Outcome.DAMAGED;
    }
    markedInRound = places.size();
    if (measured) {
      beginRelocating();
    } else {
      phase = Phase.MEASURE;
      measurement.begin(copySpace == null ? 0 : copySpace.next());
    }
    return Outcome.GOES_ON;
  }

  private Outcome setAside() {
    long bytes = measurement.bytes();
    live.set(victim, bytes);
    if (!measured && round == 0) {
      bytesLive = bytes;
    }
    measured = true;
    // A crash may have wasted a part of an interrupted copy space. The space is filled
    // nevertheless, and the few remaining objects are measured again.
    if (copySpace != null
        && (!relocation.overflowed() || measurement.onward() <= copySpace.end())) {
      beginRelocating();
      return Outcome.GOES_ON;
    }
    if (copySpace == null && regionBytes - bytes < plan.gainMin()) {
      return Outcome.NO_GAIN;
    }
    if (copySpace == null
        && plan.onlyBehind()
        && bytes > 0
        && !space.fitsBehind(victim, measurement.aligned())) {
      return Outcome.TOO_LARGE;
    }
    if (bytes > 0) {
      CopySpace other = space.setAside(victim, measurement.fresh(), measurement.aligned());
      if (other == null) {
        boolean comes = files.making() && files.failures() == failures;
        return comes ? Outcome.WAITS : Outcome.NO_ROOM;
      }
      copySpace = other;
    }
    beginRelocating();
    return Outcome.GOES_ON;
  }

  private void beginRelocating() {
    phase = round++ == 0 ? Phase.MERGE : Phase.REPLICATE;
    relocation.begin(copySpace);
  }

  private Outcome relocated() {
    laterBefore = sweep.later() + relocation.later();
    measured = !relocation.overflowed();
    beginSweep();
    return laterBefore > 0 ? Outcome.WAITS : Outcome.GOES_ON;
  }
}
