/**
 * Puts and deletes: write an object into a leased extent of the log and have it published, in one
 * of two ways.
 */
package io.erda.client.puts;
