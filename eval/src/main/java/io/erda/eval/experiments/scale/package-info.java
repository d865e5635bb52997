/**
 * How times change with the size of a store, of its values and of its table, and with the number of
 * clients.
 */
package io.erda.eval.experiments.scale;
