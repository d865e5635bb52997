/**
 * The whole system under one seed: virtual time, simulated persistent memory and a simulated
 * network of RDMA NICs behind the seams of {@link io.erda.pmem} and {@link io.erda.rdma}, and a
 * driver that runs nodes on them and injects faults.
 */
package io.erda.simulation;
