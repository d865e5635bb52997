package io.erda.simulation.system;

/**
 * What clients ask for: the rest of 100 are gets.
 *
 * @param puts of 100 operations
 * @param deletes of 100 operations
 * @param conditionalPercent of the puts and deletes, that are done only if the key has a certain
 *     value or none
 * @param staying keys that are put once and stay as they are
 */
public record OperationMix(int puts, int deletes, int conditionalPercent, int staying) {
  /** A mix in which no key stays as it is. */
  OperationMix(int puts, int deletes, int conditionalPercent) {
    this(puts, deletes, conditionalPercent, 0);
  }

  OperationMix withoutConditions() {
    return new OperationMix(puts, deletes, 0, staying);
  }
}
