package io.erda.eval.peers;

import io.erda.eval.peers.Column.Cell;
import java.time.Duration;

/**
 * The amount of work.
 *
 * @param small number of objects of 64 bytes
 * @param kib number of objects of 1 KiB that, without the values, fit a processor's caches
 * @param big number of objects of 1 KiB that only fit into memory
 * @param firstPuts how long a store is written before the measurement
 * @param firstGets how long it is read before the measurement
 * @param turn how long a system is measured in each round
 * @param rounds by default
 */
record PeerSizes(
    Cell small,
    Cell kib,
    Cell big,
    Duration firstPuts,
    Duration firstGets,
    Duration turn,
    int rounds) {
  static final PeerSizes FULL =
      new PeerSizes(
          new Cell(64, 1_000_000),
          new Cell(1024, 100_000),
          new Cell(1024, 10_000_000),
          Duration.ofSeconds(60),
          Duration.ofSeconds(10),
          Duration.ofSeconds(1),
          5);

  static final PeerSizes QUICK =
      new PeerSizes(
          new Cell(64, 100_000),
          new Cell(1024, 20_000),
          new Cell(1024, 200_000),
          Duration.ofMillis(500),
          Duration.ofMillis(500),
          Duration.ofMillis(250),
          1);

  /** For several threads. */
  static final PeerSizes THREADS =
      new PeerSizes(
          FULL.small,
          FULL.kib,
          FULL.big,
          Duration.ofSeconds(20),
          Duration.ofSeconds(3),
          FULL.turn,
          3);

  static final PeerSizes THREADS_QUICK =
      new PeerSizes(
          new Cell(64, 20_000),
          new Cell(1024, 5_000),
          QUICK.big,
          Duration.ofMillis(200),
          Duration.ofMillis(50),
          Duration.ofMillis(30),
          1);

  Cell cell(Column.Scale scale) {
    return switch (scale) {
      case SMALL -> small;
      case KIB -> kib;
      case BIG -> big;
    };
  }
}
