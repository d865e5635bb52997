/**
 * A device over the files of a store, for clients that may only read them. It reads from the files
 * the information that a server would send, and a running server does not notice the reader.
 *
 * <p>Read {@code ReadOnlyDevice} first. {@code MapReader} reads the map, and its documentation
 * explains why the map is valid. If you change the order in which a server stores the epoch and the
 * contents of a map, check {@code MapReaderTest}, which has that order as a script.
 */
package io.erda.client.files;
