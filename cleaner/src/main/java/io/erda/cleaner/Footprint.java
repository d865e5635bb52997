package io.erda.cleaner;

import io.erda.logstore.LinkedRegions;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.Region;

/**
 * How large the log may be for what lives in it: so large that a share of it lives, and one region
 * for each head beside, which the head appends to. Beyond that it is cleaned, so that a store that
 * is overwritten turns in few files, whose pages stay warm, and one that shrinks gives space back.
 *
 * <p>Says nothing before something was written: after an opening the table would have to be counted
 * for it, which looks at every object of a store that may lie on a cold disk.
 */
final class Footprint {
  /** A step of cleaning for each such share of a region beyond what is allowed. */
  private static final int PACE_SHARE = 4;

  /** The most steps at once: beyond, whoever sends requests would notice each one. */
  private static final int PACE_MAX = 16;

  private final LinkedRegions linked;
  private final LogGeometry geometry;
  private final LiveBytes live;
  private final int livePercent;

  /** The newest region when the log was opened. */
  private final int opened;

  /**
   * @param livePercent see {@link CleanerOptions#livePercent}
   */
  Footprint(LinkedRegions linked, LiveBytes live, int livePercent) {
    this.linked = linked;
    this.geometry = linked.geometry();
    this.live = live;
    this.livePercent = livePercent;
    this.opened = newest();
  }

  private int newest() {
    int newest = 0;
    for (Region region : linked.regions()) {
      newest = Math.max(newest, region.generation());
    }
    return newest;
  }

  /**
   * Whether the log is larger than it should be, or may be and what lives in it is not known yet.
   */
  boolean exceeded() {
    if (livePercent == 0 || linked.regions().size() <= geometry.heads() + 1) {
      return false;
    }
    return live.known() ? beyond() > 0 : newest() > opened;
  }

  /** Bytes that the log is larger than it should be, not positive where it is not. */
  private long beyond() {
    long regions = (long) linked.regions().size() - geometry.heads();
    return regions * geometry.regionBytes() - 100 * live.total() / livePercent;
  }

  /**
   * Steps of cleaning to take between two looks at the requests of clients: the more, the larger
   * the log is, so that it finds a size at which cleaning keeps up with those who write.
   */
  int pace() {
    if (livePercent == 0 || !live.known()) {
      return 1;
    }
    long shares = PACE_SHARE * beyond() / geometry.regionBytes();
    return Math.clamp(shares, 1, PACE_MAX);
  }
}
