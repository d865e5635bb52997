/**
 * The device between threads of one process.
 *
 * <p>Read {@code EmbeddedDevice} first. A thread that sends a message to an end whose thread sleeps
 * may take a step for that end.
 */
package io.erda.rdma.embedded;
