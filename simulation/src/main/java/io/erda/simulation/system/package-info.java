/**
 * Servers and clients of the production code in one thread, on simulated hardware, under one seed:
 * what runs is a store behind {@link io.erda.simulation.system.StoreUnderTest}, what breaks it is
 * drawn from the seed, and what the clients saw is checked.
 *
 * <p>Read {@code SystemSimulation} first. {@code Configuration} is what a seed draws, {@code
 * FaultInjector} breaks things, {@code VersionWordRules} looks at each store to a version word, and
 * {@code GarbageSender} sends what no client would.
 */
package io.erda.simulation.system;
