/**
 * The hash table as the engine has it: one generation or, while it is resized, two; the words of
 * puts that are not committed; where a key goes.
 *
 * <p>Read {@code Tables} first. {@code PendingWords} knows which pending words a put stands behind,
 * and decides the others; {@code Decisions} is what it shares with puts that announce first. {@code
 * TableGrowth} doubles and halves the table, and {@code TombstoneSweep} empties the entries of
 * deleted keys.
 */
package io.erda.server.engine.tables;
