/**
 * A device over the files of a store, for clients that may only read them: what a server would tell
 * is read from the files, and nobody notices.
 *
 * <p>Read {@code ReadOnlyDevice} first. {@code MapReader} reads the map and says whether it may be
 * believed: whoever changes the order in which a server stores the epoch and what a map names has
 * {@code MapReaderTest}, which has that order as a script.
 */
package io.erda.client.files;
