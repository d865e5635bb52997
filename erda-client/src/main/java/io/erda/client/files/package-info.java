/**
 * A device over the files of a store, for clients that may only read them. It reads from the files
 * what a server would tell, and leaves no trace.
 */
package io.erda.client.files;
