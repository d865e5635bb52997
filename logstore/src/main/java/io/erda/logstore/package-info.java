/**
 * The log: objects, the segments and regions in which they lie, the extents that writers lease, and
 * the marks between which recovery scans (Erda paper, sections 3.2.1 and 4.1).
 *
 * <p>Both sides use {@link io.erda.logstore.ObjectLayout}, {@link io.erda.logstore.ObjectChecksum},
 * {@link io.erda.logstore.ObjectWriter} and {@link io.erda.logstore.LogGeometry}: with one-sided
 * reads the bytes are the protocol. {@link io.erda.logstore.LogStore} is the server's; read it
 * first. {@code LogOpening} and {@code ObjectScan} are for recovery, {@code Linking} and {@code
 * WaterMarks} store the words that recovery reads, and {@code FileSupply} has the files that are
 * made before they are needed. The bytes, and the order in which they are stored, are in {@code
 * FORMAT.md}.
 */
package io.erda.logstore;
