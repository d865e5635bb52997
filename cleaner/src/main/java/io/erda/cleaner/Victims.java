package io.erda.cleaner;

import io.erda.logstore.LinkedRegions;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.Region;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Chooses the region to clean by cost and benefit, (1 − u) × age / (1 + u), as log-structured file
 * systems do: the free share of an old region hardly changes, while that of a young region still
 * grows. The age is the number of regions that were linked later.
 */
final class Victims {
  private final LinkedRegions linked;
  private final LogGeometry geometry;
  private final LiveBytes live;

  /**
   * By generation, the live bytes of a region when its cleaning gained nothing; negative: never try
   * again.
   */
  private final Map<Integer, Long> refused = new HashMap<>();

  /**
   * @param into generation of the region to which the head appended
   * @param live live bytes of the victim at that time
   */
  private record TooLarge(int into, long live) {}

  /**
   * By generation, the regions whose copies did not fit into the rest of the region to which the
   * head appended.
   */
  private final Map<Integer, TooLarge> tooLarge = new HashMap<>();

  /**
   * @param live live bytes that were copied into a region
   * @param wasted bytes between the copies
   */
  private record Packed(long live, long wasted) {}

  /**
   * By generation, the regions whose copies can't be packed more densely while all of them are
   * live.
   */
  private final Map<Integer, Packed> packed = new HashMap<>();

  Victims(LinkedRegions linked, LiveBytes live) {
    this.linked = linked;
    this.geometry = linked.geometry();
    this.live = live;
  }

  /**
   * The best region that {@code among} accepts and that frees at least {@code gainMin}, or null.
   */
  Region best(long gainMin, Predicate<Region> among) {
    Region best = null;
    double bestScore = 0;
    int newest = 0;
    for (Region region : linked.regions()) {
      newest = Math.max(newest, region.generation());
    }
    for (Region region : linked.regions()) {
      if (gain(region) >= gainMin && !isRefused(region, gainMin) && among.test(region)) {
        double score = score(region, newest - region.generation() + 1);
        if (score > bestScore) {
          best = region;
          bestScore = score;
        }
      }
    }
    return best;
  }

  private double score(Region region, long age) {
    double u = (double) live.of(region) / geometry.regionBytes();
    return (1 - u) * age / (1 + u);
  }

  /**
   * Returns the bytes that cleaning a region would gain: used bytes that are neither live nor lost
   * between copies. Bytes that were not handed out yet need no cleaning.
   */
  private long gain(Region region) {
    return linked.appendPlace(region) - Region.HEADER_BYTES - live.of(region) - wasted(region);
  }

  /** Bytes lost between the copies in a region, in proportion to those that are still live. */
  private long wasted(Region region) {
    Packed then = packed.get(region.generation());
    if (then == null) {
      return 0;
    }
    double lives = Math.min(1, (double) live.of(region) / then.live);
    return (long) (then.wasted * lives);
  }

  /** Notes that objects were copied to a region, packed as densely as possible. */
  void packed(Region into, long copied, long wasted) {
    if (copied > 0) {
      packed.merge(
          into.generation(),
          new Packed(copied, wasted),
          (one, other) -> new Packed(one.live + other.live, one.wasted + other.wasted));
    }
  }

  /** Whether its head appends to the region, and has room left there. */
  boolean isOpen(Region region) {
    return linked.appendRegion(region.head()) == region
        && linked.appendPlace(region) < geometry.regionBytes();
  }

  /**
   * Whether its live bytes fit into the region that its head appends to, so that a whole region is
   * freed.
   */
  boolean freesRegion(Region region) {
    if (live.of(region) == 0) {
      return true;
    }
    Region into = linked.appendRegion(region.head());
    return into != region
        && !isTooLarge(region, into)
        && geometry.regionBytes() - linked.appendPlace(into)
            >= live.of(region) + geometry.segmentBytes();
  }

  /**
   * Notes that the copies of a region need more room than expected. The region is not tried again
   * until its head appends to another region, or it has fewer live bytes.
   */
  void tooLarge(Region region) {
    int into = linked.appendRegion(region.head()).generation();
    tooLarge.put(region.generation(), new TooLarge(into, live.of(region)));
  }

  private boolean isTooLarge(Region region, Region into) {
    TooLarge then = tooLarge.get(region.generation());
    return then != null
        && then.into == into.generation()
        && then.live - live.of(region) < geometry.segmentBytes();
  }

  void refuse(Region region, boolean forGood) {
    assert forGood || live.known() : "-1 would stand for good";
    refused.put(region.generation(), forGood ? -1 : live.of(region));
  }

  private boolean isRefused(Region region, long gainMin) {
    Long then = refused.get(region.generation());
    return then != null && (then < 0 || then - live.of(region) < gainMin / 2);
  }

  void forget(Region region) {
    refused.remove(region.generation());
    tooLarge.remove(region.generation());
    packed.remove(region.generation());
  }

  /** Regions that are kept because objects in them are damaged. */
  long damaged() {
    return refused.values().stream().filter(then -> then < 0).count();
  }
}
