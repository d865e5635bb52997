/**
 * Servers and clients of the production code in one thread, on simulated hardware, under one seed:
 * runs a store behind {@link io.erda.simulation.system.StoreUnderTest}, injects faults drawn from
 * the seed, and checks the results of the clients.
 */
package io.erda.simulation.system;
