/**
 * Servers and clients of the production code in one thread, on simulated hardware, under one seed:
 * what runs is a store behind {@link io.erda.simulation.system.StoreUnderTest}, what breaks it is
 * drawn from the seed, and what the clients saw is checked.
 */
package io.erda.simulation.system;
