/**
 * The hash table as the engine has it: one generation or, while it is resized, two; the words of
 * puts that are not committed; where a key goes.
 */
package io.erda.server.engine.tables;
