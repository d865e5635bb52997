/**
 * A client's connections: one {@link io.erda.client.connections.Session} for each, with its
 * requests, the region map that it READ, its leases, and how the client gets the next one when it
 * is lost.
 *
 * <p>Read {@code Session} first. How a client connects, and what becomes of its requests when a
 * connection ends, is {@code Connections}, {@code SessionState} and {@code Withdrawal}. What it
 * believes of a welcome, a map and a response is {@code WelcomeCheck}, {@code MapFetch} and {@code
 * Requests}, which also builds the requests that belong to the connection (LEASE, END, MAP, LEFT).
 * {@code Refusals} makes an exception of a server's answer, and {@code Devices} a device of a URI.
 */
package io.erda.client.connections;
