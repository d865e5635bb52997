package io.erda.eval.load;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A Zipfian distribution (0.99) of objects. Objects of neighbouring ranks have numbers far apart,
 * so that hot ones are not adjacent. Immutable.
 */
public final class Zipfian {
  private static final double THETA = 0.99;

  /** A prime that divides no number of objects. */
  private static final long SCATTER = 2_147_483_647;

  /** The cumulative shares of the objects, by rank; the last is 1. */
  private final double[] upTo;

  public Zipfian(int objects) {
    this.upTo = new double[objects];
    double sum = 0;
    for (int rank = 0; rank < objects; rank++) {
      sum += 1 / Math.pow(rank + 1, THETA);
      upTo[rank] = sum;
    }
    for (int rank = 0; rank < objects; rank++) {
      upTo[rank] /= sum;
    }
  }

  /** The number of an object, with one random number. */
  public int next(SplittableRandom random) {
    int rank = Arrays.binarySearch(upTo, random.nextDouble());
    return number(rank < 0 ? -rank - 1 : rank);
  }

  /** The number of the object with a rank; the most frequent one has rank 0. */
  public int number(int rank) {
    return (int) ((rank * SCATTER + 1) % upTo.length);
  }

  /** The share of the object with a rank. */
  public double share(int rank) {
    return rank == 0 ? upTo[0] : upTo[rank] - upTo[rank - 1];
  }
}
