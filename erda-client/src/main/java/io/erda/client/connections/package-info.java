/**
 * A client's connections: one {@link io.erda.client.connections.Session} for each, with its
 * requests, the region map that it fetched, and its leases; and how the client makes the next
 * connection when one is lost.
 *
 * <p>Read {@code Session} first. {@code Connections}, {@code SessionState} and {@code Withdrawal}
 * connect, and settle the requests of a connection that ends. {@code WelcomeCheck}, {@code
 * MapFetch} and {@code Requests} check a welcome, a map and a response; {@code Requests} also
 * builds the requests that belong to the connection (LEASE, END, MAP, LEFT). A server in the same
 * process publishes through {@code LocalPublisher}. {@code Refusals} makes an exception from a
 * server's answer, and {@code Devices} makes a device for a URI.
 */
package io.erda.client.connections;
