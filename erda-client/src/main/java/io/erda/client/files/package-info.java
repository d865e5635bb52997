/**
 * A device over the files of a store, for clients that may only read them: what a server would tell
 * is read from the files, and nobody notices.
 */
package io.erda.client.files;
