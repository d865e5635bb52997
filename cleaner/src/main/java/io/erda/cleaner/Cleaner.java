package io.erda.cleaner;

import io.erda.logstore.CleaningSpace;
import io.erda.logstore.CopySpace;
import io.erda.logstore.FileSupply;
import io.erda.logstore.LinkedRegions;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogStore;
import io.erda.logstore.Region;
import java.util.Arrays;
import java.util.List;

/**
 * Cleans the log of a server, in steps of some tens of microseconds. It cleans when the log is
 * large compared with its live bytes, when few regions are left, when a client waits for space, on
 * request, or when the cleaning of the last run was interrupted. It cleans one region at a time, so
 * one reserved region is enough. One thread, the server's.
 *
 * <p>Readers are not affected. In every phase each word names a whole object. A region is retired
 * when no word names a place in it, and the map becomes newer then, so that a late reader rejects
 * the bytes that it READs there.
 */
public final class Cleaner {
  /**
   * A cleaning for which no request waits must free at least this fraction of a region: 1 /
   * GAIN_SHARE.
   */
  private static final int GAIN_SHARE = 4;

  /**
   * A cleaning that was requested, or for which a request for space waits, must free at least 1 /
   * GAIN_SHARE_URGENT of a region.
   */
  private static final int GAIN_SHARE_URGENT = 16;

  /**
   * The time between two checks for work. The cleaner checks at once after a request, and when
   * another region is linked.
   */
  private static final long LOOK_NS = 5_000_000;

  /** The number of calls of pace() for one computation of the pace; a power of two. */
  private static final int PACES_PER_LOOK = 16;

  /** Receives the begin and the end of cleanings. */
  public interface Listener {
    /** Ignores all cleanings. */
    Listener NONE = new Listener() {};

    default void began(Region victim) {}

    default void ended(Ended ended) {}
  }

  /**
   * A cleaning that has ended.
   *
   * @param freed false when the region is kept
   * @param bytesLive live bytes of the region, measured, or an estimate when they were not measured
   * @param rounds number of rounds of copying
   */
  public record Ended(Region victim, boolean freed, long bytesLive, long bytesCopied, int rounds) {}

  private final LogStore log;
  private final LinkedRegions linked;
  private final FileSupply files;
  private final CleaningSpace space;
  private final LogGeometry geometry;
  private final Entries entries;
  private final Writers writers;
  private final Listener listener;
  private final CleanerOptions options;
  private final LiveBytes live;
  private final Victims victims;
  private final Footprint footprint;
  private final Copier copier;
  private final PlaceSet places;

  /** By head: the generation up to which regions must be cleaned on request. */
  private final int[] asked;

  /** By head: whether a client waits for space. */
  private final boolean[] urgent;

  private long nextLookNs;
  private Cleaning cleaning;
  private boolean resumes;
  private boolean idle;

  /** The linked regions at the last check. */
  private List<Region> looked = List.of();

  /** The last result of {@link Footprint#pace}, which costs a division and changes slowly. */
  private int pace = 1;

  private int paces;
  private long cleanings;
  private long bytesReclaimed;
  private long givenUp;
  private long copiedBefore;

  /**
   * @param live kept up to date by the code that stores words
   * @param listener is told of cleanings
   */
  public Cleaner(
      LogStore log,
      Entries entries,
      LiveBytes live,
      Writers writers,
      Listener listener,
      CleanerOptions options) {
    this.log = log;
    this.linked = log.linked();
    this.files = log.files();
    this.space = log.cleaning();
    this.geometry = log.geometry();
    this.entries = entries;
    this.writers = writers;
    this.listener = listener;
    this.options = options;
    this.live = live;
    this.victims = new Victims(linked, live);
    this.footprint = new Footprint(linked, live, options.livePercent());
    this.copier = new Copier(space, geometry);
    this.places = new PlaceSet(geometry.regionBytes());
    this.asked = new int[geometry.heads()];
    this.urgent = new boolean[geometry.heads()];
    this.resumes = space.interrupted() != null;
    space.reserveRegions(options.enabled() ? 1 : 0);
  }

  /** Takes one step. Returns 0 when there was no work. */
  public int doWork(long nowNs) {
    if (!options.enabled()) {
      return 0;
    }
    if (cleaning == null) {
      boolean same = linked.regions() == looked;
      if (idle && same && nowNs - nextLookNs < 0) {
        return 0;
      }
      looked = linked.regions();
      nextLookNs = nowNs + LOOK_NS;
      return begin(nowNs);
    }
    switch (cleaning.step(nowNs)) {
      case GOES_ON, WAITS -> {}
      case DONE -> done();
      case NO_GAIN -> {
        victims.refuse(cleaning.victim(), false);
        giveUp();
      }
      case TOO_LARGE -> {
        victims.tooLarge(cleaning.victim());
        giveUp();
      }
      case NO_ROOM -> {
        if (files.canLink(cleaning.victim().head())) {
          // A region could be linked, so the lack of room has another reason, and would occur
          // again.
          victims.refuse(cleaning.victim(), false);
        }
        giveUp();
      }
      case DAMAGED -> {
        victims.refuse(cleaning.victim(), true);
        giveUp();
      }
    }
    return 1;
  }

  /** Requests the cleaning of every region of a head that holds dead objects; −1: of every head. */
  public void ask(int head) {
    for (int each = 0; each < asked.length; each++) {
      if (head < 0 || head == each) {
        for (Region region : linked.regions()) {
          if (region.head() == each) {
            asked[each] = Math.max(asked[each], region.generation());
          }
        }
      }
    }
    idle = false;
  }

  /**
   * Notes that a client waits for space of a head, which has none left.
   *
   * @return false when cleaning can't help
   */
  public boolean waitsFor(int head) {
    if (!options.enabled()) {
      return false;
    }
    urgent[head] = true;
    idle = false;
    return cleaning != null || resumes || !live.known() || urgentVictim(head) != null;
  }

  /** Gives up the requested cleanings, because nothing is cleaned any more. */
  public void giveUpAsked() {
    Arrays.fill(asked, 0);
  }

  /** Whether a requested cleaning is not done yet. */
  public boolean asked() {
    return Arrays.stream(asked).anyMatch(generation -> generation > 0);
  }

  // Beginning.

  private int begin(long nowNs) {
    if (resumes) {
      resumes = false;
      CopySpace copySpace = space.interrupted();
      begin(copySpace.victim(), copySpace, 0, false, nowNs);
      return 1;
    }
    idle = !wanted();
    if (idle) {
      return 0;
    }
    if (!live.known()) {
      return live.doWork();
    }
    Region victim = wantedVictim();
    boolean atLeisure = victim == null;
    if (atLeisure) {
      victim = leisureVictim();
    }
    if (victim == null) {
      idle = true;
      return 0;
    }
    boolean onlyBehind = atLeisure || !files.canLink(victim.head());
    begin(victim, null, gainMin(GAIN_SHARE_URGENT), onlyBehind, nowNs);
    return 1;
  }

  private void begin(
      Region victim, CopySpace copySpace, long gainMin, boolean onlyBehind, long nowNs) {
    copier.reset();
    copiedBefore = copier.copiedBytes();
    cleaning =
        new Cleaning(
            log,
            entries,
            live,
            writers,
            places,
            copier,
            new Cleaning.Plan(
                victim, copySpace, gainMin, onlyBehind, nowNs + options.writersWaitNs()));
    listener.began(victim);
  }

  private boolean wanted() {
    boolean wanted = atLeisure();
    for (int head = 0; head < asked.length; head++) {
      wanted |= asked[head] > 0 || urgent[head];
    }
    return wanted;
  }

  /** Whether regions must be cleaned although no request waits. */
  private boolean atLeisure() {
    return files.regionsAtHand() < options.freeRegionsMin() || footprint.exceeded();
  }

  /**
   * Returns the region to clean because requests for space wait, or because the cleaning was
   * requested; null when there is none.
   */
  private Region wantedVictim() {
    for (int head = 0; head < urgent.length; head++) {
      if (urgent[head]) {
        urgent[head] = false;
        Region victim = urgentVictim(head);
        if (victim != null) {
          return victim;
        }
      }
    }
    for (int head = 0; head < asked.length; head++) {
      int upTo = asked[head];
      int ofHead = head;
      if (upTo > 0) {
        Region victim =
            victims.best(
                gainMin(GAIN_SHARE_URGENT),
                region ->
                    region.head() == ofHead && region.generation() <= upTo && mayBegin(region));
        if (victim != null) {
          return victim;
        }
        asked[head] = 0;
      }
    }
    return null;
  }

  /**
   * The region to clean when no request waits, or null. A cleaning that needs another region for
   * its copies is not done at leisure: it would leave the rest of the region to which the head
   * appends unused, and such cleanings would never end when the objects of two regions do not fit
   * into one.
   */
  private Region leisureVictim() {
    return atLeisure()
        ? victims.best(
            gainMin(GAIN_SHARE), region -> !victims.isOpen(region) && victims.freesRegion(region))
        : null;
  }

  /**
   * Returns a victim whose cleaning gives a head space: a region of the head, or a region whose
   * cleaning frees a whole region.
   */
  private Region urgentVictim(int head) {
    return victims.best(
        gainMin(GAIN_SHARE_URGENT),
        region ->
            region.head() == head
                ? mayBegin(region)
                : !victims.isOpen(region) && victims.freesRegion(region));
  }

  /**
   * Whether there is space for copies of a region's objects: another region, or the rest of the
   * region to which the head appends.
   */
  private boolean mayBegin(Region region) {
    return files.canLink(region.head()) || victims.freesRegion(region);
  }

  private long gainMin(int share) {
    return geometry.regionBytes() / share;
  }

  // Ending.

  private void done() {
    assert places.size() == 0 && copier.isEmpty() && !copier.copying()
        : "a region goes whose objects are being copied";
    Region victim = cleaning.victim();
    CopySpace copySpace = cleaning.copySpace();
    Ended ended = ended(cleaning, true);
    cleaning = null;
    cleanings++;
    bytesReclaimed += geometry.regionBytes() - (copier.copiedBytes() - copiedBefore);
    live.set(victim, 0);
    victims.forget(victim);
    space.retire(victim);
    if (copySpace != null) {
      victims.packed(copySpace.region(), ended.bytesCopied(), copySpace.wasted());
      space.release(copySpace);
    }
    listener.ended(ended);
  }

  private Ended ended(Cleaning of, boolean freed) {
    long copied = copier.copiedBytes() - copiedBefore;
    return new Ended(of.victim(), freed, of.bytesLive(), copied, of.rounds());
  }

  private void giveUp() {
    Cleaning ended = cleaning;
    cleaning = null;
    givenUp++;
    places.clear();
    if (ended.copySpace() != null) {
      space.release(ended.copySpace());
    }
    listener.ended(ended(ended, false));
  }

  /** Number of steps to take between two checks for requests of clients, at least 1. */
  public int pace() {
    if ((++paces & PACES_PER_LOOK - 1) == 0) {
      pace = footprint.pace();
    }
    return pace;
  }

  // Figures.

  /** Whether a region is being cleaned. */
  public boolean working() {
    return cleaning != null;
  }

  /** Whether there is work, or it is not known yet whether there is any. */
  public boolean atWork() {
    return options.enabled() && (cleaning != null || !idle);
  }

  /** The phase of the cleaning under way. */
  public Phase phase() {
    return cleaning == null ? Phase.IDLE : cleaning.phase();
  }

  /** The progress of the phase, thousandths. */
  public long progress() {
    return cleaning == null ? 0 : cleaning.progress();
  }

  /** The region that is being cleaned, or null. */
  public Region victim() {
    return cleaning == null ? null : cleaning.victim();
  }

  /**
   * Whether a cleaning that was requested, or for which a request waits, lacks only the disk space
   * for the file of another region for its copies.
   */
  public boolean blocked() {
    return options.enabled()
        && files.regionsAtHand() == 0
        && linked.freeRegions() > 0
        && live.known()
        && victims.best(gainMin(GAIN_SHARE_URGENT), region -> !mayBegin(region)) != null;
  }

  /** Regions cleaned so far. */
  public long cleanings() {
    return cleanings;
  }

  /** Cleanings that ended without freeing a region. */
  public long givenUp() {
    return givenUp;
  }

  /** Regions that are kept because objects in them are damaged. */
  public long damagedRegions() {
    return victims.damaged();
  }

  /**
   * Returns the bytes copied by cleaning. Together with the bytes that clients published they give
   * the write amplification.
   */
  public long bytesCopied() {
    return copier.copiedBytes();
  }

  /** Bytes of freed regions, less the bytes copied out of them. */
  public long bytesReclaimed() {
    return bytesReclaimed;
  }

  /** Live bytes of a region, or −1 when they are not known. */
  public long liveBytes(Region region) {
    return live.of(region);
  }

  @Override
  public String toString() {
    return phase() + " " + progress() + "‰, asked " + Arrays.toString(asked);
  }
}
