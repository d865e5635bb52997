/**
 * The whole system under one seed: virtual time, simulated persistent memory and a simulated
 * network of RDMA NICs behind the seams of {@link io.erda.pmem} and {@link io.erda.rdma}, and the
 * classes that run nodes on them and inject faults.
 *
 * <p>Read {@code SimulatedMemory} first. {@code Responder} executes posted work as a NIC does,
 * {@code MessageDelivery} delivers messages, and {@code Severing} decides which work still takes
 * effect when a connection ends. {@code PostedWork} has the states of a work request and their
 * transitions.
 */
package io.erda.simulation;
