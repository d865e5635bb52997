/**
 * The engine's hash table: one generation, or two while it is resized; the words of uncommitted
 * puts; insertions and their room.
 */
package io.erda.server.engine.tables;
