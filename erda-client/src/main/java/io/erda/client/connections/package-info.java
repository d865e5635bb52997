/**
 * A client's connections: each is a {@link io.erda.client.connections.Session} with its requests,
 * region map and leases. A lost one is replaced.
 */
package io.erda.client.connections;
