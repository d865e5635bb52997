package io.erda.cleaner;

import io.erda.logstore.LinkedRegions;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.Region;

/**
 * Decides whether the log is too large for its live bytes: a given share of it must be live, apart
 * from one region for each head, to which the head appends. A larger log is cleaned. So a store
 * whose values are overwritten uses few files again and again, whose pages stay cached, and a store
 * that shrinks gives back space.
 *
 * <p>It decides nothing until a region was linked after the opening. Before that the live bytes
 * would have to be counted, which reads every object of a store that may lie on a cold disk.
 */
final class Footprint {
  /**
   * One more step of cleaning is taken for each 1 / PACE_SHARE of a region by which the log exceeds
   * its limit.
   */
  private static final int PACE_SHARE = 4;

  /** The most steps between two checks for requests; more steps would delay requests noticeably. */
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
   * Whether the log exceeds its limit, or may exceed it because its live bytes are not known yet.
   */
  boolean exceeded() {
    if (livePercent == 0 || linked.regions().size() <= geometry.heads() + 1) {
      return false;
    }
    return live.known() ? beyond() > 0 : newest() > opened;
  }

  /** Returns the bytes by which the log exceeds its limit; not positive when it does not. */
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
