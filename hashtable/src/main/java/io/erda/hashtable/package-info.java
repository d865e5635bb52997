/**
 * The hopscotch table of entries, each a key word and the 8-byte version word that publishes an
 * object (Erda paper, sections 3.2.3 and 4.1).
 *
 * <p>Both sides use {@link io.erda.hashtable.KeyHash}, {@link io.erda.hashtable.Entry}, {@link
 * io.erda.hashtable.VersionWord} and {@link io.erda.hashtable.Neighbourhood}: with one-sided reads
 * the bytes are the protocol. {@link io.erda.hashtable.HashTable} is the server's; read it first.
 * {@code Displacement} moves an entry within the table, {@link io.erda.hashtable.Resizing} moves
 * all of them to another one. The bytes, and the order in which they are stored, are in {@code
 * FORMAT.md}; {@code CrashTest} tries a crash at every store to memory.
 */
package io.erda.hashtable;
