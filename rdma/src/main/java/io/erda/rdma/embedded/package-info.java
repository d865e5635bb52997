/**
 * The device between threads of one process.
 *
 * <p>Read {@code EmbeddedDevice} first. Whoever sends something to an end that sleeps may take a
 * step of it.
 */
package io.erda.rdma.embedded;
