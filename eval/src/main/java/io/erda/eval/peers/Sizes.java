package io.erda.eval.peers;

import io.erda.eval.peers.Column.Cell;
import java.time.Duration;

/**
 * How much is measured.
 *
 * @param small many objects of 64 bytes
 * @param kib objects of 1 KiB that fit a processor's caches, but for the values
 * @param big objects of 1 KiB that fit nothing but memory
 * @param firstPuts how long a store is written to before anything counts
 * @param firstGets and read from
 * @param turn how long a system is measured in each round
 * @param rounds where nobody says otherwise
 */
record Sizes(
    Cell small,
    Cell kib,
    Cell big,
    Duration firstPuts,
    Duration firstGets,
    Duration turn,
    int rounds) {
  static final Sizes FULL =
      new Sizes(
          new Cell(64, 1_000_000),
          new Cell(1024, 100_000),
          new Cell(1024, 10_000_000),
          Duration.ofSeconds(60),
          Duration.ofSeconds(10),
          Duration.ofSeconds(1),
          5);

  static final Sizes QUICK =
      new Sizes(
          new Cell(64, 100_000),
          new Cell(1024, 20_000),
          new Cell(1024, 200_000),
          Duration.ofMillis(500),
          Duration.ofMillis(500),
          Duration.ofMillis(250),
          1);

  Cell cell(Column.Scale scale) {
    return switch (scale) {
      case SMALL -> small;
      case KIB -> kib;
      case BIG -> big;
    };
  }
}
