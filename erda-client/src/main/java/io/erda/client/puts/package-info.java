/**
 * Puts and deletes: build an object, write it into a leased extent of the log, and have it
 * published.
 *
 * <p>Read {@code Put} first: it implements both put modes, publish last and announce first, and the
 * way without a message for a server in the same process. {@code PutOrder} keeps the order of a
 * client's puts.
 */
package io.erda.client.puts;
