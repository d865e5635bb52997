/**
 * The whole system under one seed: virtual time, simulated persistent memory and a simulated
 * network of RDMA NICs behind the seams of {@link io.erda.pmem} and {@link io.erda.rdma}, and the
 * frame that runs nodes on them and breaks them.
 */
package io.erda.simulation;
