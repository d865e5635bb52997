/**
 * The server as a state machine: what a thread drives in production and a seed in simulation.
 *
 * <p>{@link io.erda.server.engine.StoreEngine} is the store: superblock, root, table, log,
 * publication, recovery. {@link io.erda.server.engine.ServerCore} is the service over it:
 * connections, requests, reservations.
 */
package io.erda.server.engine;
