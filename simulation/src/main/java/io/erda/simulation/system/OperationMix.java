package io.erda.simulation.system;

/**
 * What clients ask for: the rest of 100 are gets.
 *
 * @param puts of 100 operations
 * @param deletes of 100 operations
 * @param conditionalPercent of the puts and deletes, that are done only if the key has a certain
 *     value or none
 */
public record OperationMix(int puts, int deletes, int conditionalPercent) {
  OperationMix withoutConditions() {
    return new OperationMix(puts, deletes, 0);
  }
}
