/**
 * The whole system under one seed: virtual time, simulated persistent memory and a simulated
 * network of RDMA NICs behind the seams of {@link io.erda.pmem} and {@link io.erda.rdma}, and the
 * frame that runs nodes on them and breaks them.
 *
 * <p>Read {@code SimulatedMemory} first. What a simulated NIC does is {@code Responder}, which
 * carries out what was posted, {@code MessageDelivery}, and {@code Severing}, which says what still
 * takes effect when a connection ends; {@code PostedWork} names the states of a work request and
 * which leads to which.
 */
package io.erda.simulation;
