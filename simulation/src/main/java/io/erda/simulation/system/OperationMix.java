package io.erda.simulation.system;

/**
 * The mix of clients' operations: the rest of 100 are gets.
 *
 * @param puts of 100 operations
 * @param deletes of 100 operations
 * @param conditionalPercent of the puts and deletes, which are done only if the key has a certain
 *     value or none
 * @param staying keys that are put once and then keep their value
 * @param tides pairs of phases, in which first puts and then deletes prevail: the two numbers are
 *     exchanged; 0: all is one phase
 * @param sharedBits low bits of their hashes that all keys share
 */
public record OperationMix(
    int puts, int deletes, int conditionalPercent, int staying, int tides, int sharedBits) {
  /** A mix of one phase, with keys of any hashes. */
  public OperationMix(int puts, int deletes, int conditionalPercent, int staying) {
    this(puts, deletes, conditionalPercent, staying, 0, 0);
  }

  /** A mix without keys that keep their value. */
  OperationMix(int puts, int deletes, int conditionalPercent) {
    this(puts, deletes, conditionalPercent, 0);
  }

  OperationMix withoutConditions() {
    return new OperationMix(puts, deletes, 0, staying, tides, sharedBits);
  }

  /** The mix at a point of a run. */
  OperationMix at(int invoked, int operations) {
    boolean ebb = tides > 0 && 2L * tides * invoked / operations % 2 == 1;
    return ebb
        ? new OperationMix(
            /* puts= */ deletes,
            /* deletes= */ puts,
            conditionalPercent,
            staying,
            tides,
            sharedBits)
        : this;
  }
}
