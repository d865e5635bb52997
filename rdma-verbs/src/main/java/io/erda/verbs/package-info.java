/**
 * Erda over RDMA: the device of libibverbs and librdmacm.
 *
 * <p>Read {@code VerbsQueuePair} first: a connection is two hardware queue pairs. {@code Outgoing}
 * posts the work. The reasons for the design are in {@code
 * docs/decisions/2026-11-23-rdma-over-verbs.md}.
 */
package io.erda.verbs;
