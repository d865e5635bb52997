/**
 * Servers and clients of the production code in one thread, on simulated hardware, under one seed:
 * a run simulates a store behind {@link io.erda.simulation.system.StoreUnderTest}, draws its faults
 * from the seed, and checks the results that the clients got.
 *
 * <p>Read {@code SystemSimulation} first. {@code Configuration} has the parameters that are drawn
 * from a seed, {@code FaultInjector} injects faults, {@code VersionWordRules} checks each store to
 * a version word, and {@code GarbageSender} sends requests that no client sends.
 */
package io.erda.simulation.system;
