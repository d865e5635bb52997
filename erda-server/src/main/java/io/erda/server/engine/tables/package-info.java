/**
 * The engine's hash table: one generation or, while it is resized, two. Also the words of puts that
 * are not committed, and the insertion of keys.
 *
 * <p>Read {@code Tables} first. {@code PendingWords} knows which pending words belong to a put
 * under way, and decides the others. {@code Decisions} is its interface, which {@code
 * AnnouncedWords} implements for puts that announce first. {@code TableGrowth} doubles and halves
 * the table, and {@code TombstoneSweep} empties the entries of deleted keys.
 */
package io.erda.server.engine.tables;
