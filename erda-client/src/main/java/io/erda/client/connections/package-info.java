/**
 * A client's connections: one {@link io.erda.client.connections.Session} for each, with its
 * requests, the region map that it READ, its leases, and how the client gets the next one when it
 * is lost.
 */
package io.erda.client.connections;
