package io.erda.cleaner;

import io.erda.logstore.LinkedRegions;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.Region;

/**
 * How large the log may be for its live bytes: a given share of it must be live, apart from one
 * region for each head, which the head appends to. A larger log is cleaned, so that a store whose
 * values are overwritten cycles through few files, whose pages stay cached, and one that shrinks
 * gives space back.
 *
 * <p>It gives no answer before something was written: the table would have to be counted after an
 * opening, which reads every object of a store that may lie on a cold disk.
 */
final class Footprint {
  /** One more step of cleaning is taken for each such share of a region beyond the limit. */
  private static final int PACE_SHARE = 4;

  /** The most steps at once: more would delay requests noticeably. */
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
   * Whether the log is larger than it should be, or may be because its live bytes are not known
   * yet.
   */
  boolean exceeded() {
    if (livePercent == 0 || linked.regions().size() <= geometry.heads() + 1) {
      return false;
    }
    return live.known() ? beyond() > 0 : newest() > opened;
  }

  /** By how many bytes the log is larger than it should be; not positive when it is not. */
  private long beyond() {
    long regions = (long) linked.regions().size() - geometry.heads();
    return regions * geometry.regionBytes() - 100 * live.total() / livePercent;
  }

  /**
   * Number of steps of cleaning to take between two checks for requests. It grows with the log, so
   * that the log settles at a size at which cleaning keeps up with the writers.
   */
  int pace() {
    if (livePercent == 0 || !live.known()) {
      return 1;
    }
    long shares = PACE_SHARE * beyond() / geometry.regionBytes();
    return Math.clamp(shares, 1, PACE_MAX);
  }
}
