/**
 * Puts and deletes: build an object, write it into a leased extent of the log, and have it published.
 */
package io.erda.client.puts;
