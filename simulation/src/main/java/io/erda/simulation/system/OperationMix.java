package io.erda.simulation.system;

/**
 * What clients ask for: the rest of 100 are gets.
 *
 * @param puts of 100 operations
 * @param deletes of 100 operations
 * @param conditionalPercent of the puts and deletes, that are done only if the key has a certain
 *     value or none
 * @param staying keys that are put once and stay as they are
 * @param tides phases in which keys come, and behind each one in which they go: puts and deletes
 *     change places; 0: all is one phase
 * @param sharedBits low bits of their hashes that all keys have in common
 */
public record OperationMix(
    int puts, int deletes, int conditionalPercent, int staying, int tides, int sharedBits) {
  /** A mix of one phase, with keys of any hashes. */
  public OperationMix(int puts, int deletes, int conditionalPercent, int staying) {
    this(puts, deletes, conditionalPercent, staying, 0, 0);
  }

  /** A mix in which no key stays as it is. */
  OperationMix(int puts, int deletes, int conditionalPercent) {
    this(puts, deletes, conditionalPercent, 0);
  }

  OperationMix withoutConditions() {
    return new OperationMix(puts, deletes, 0, staying, tides, sharedBits);
  }

  /** The mix of a moment of a run. */
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
