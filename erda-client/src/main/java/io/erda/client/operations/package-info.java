/**
 * The common parts of a client's operations: their steps, their time-outs, the operations that are
 * under way, and the delivery of outcomes to the caller.
 *
 * <p>Read {@code Operation} first. {@code Step} names the steps of all operations. {@code Outcomes}
 * delivers each outcome once, never from within a submission.
 */
package io.erda.client.operations;
