/**
 * What every operation of a client is: its steps, its time-out, its place among those that are
 * under way, and how its outcome reaches whoever asked.
 *
 * <p>Read {@code Operation} first. {@code Step} names the steps of all operations, and {@code
 * Outcomes} tells each of them once, never from within a submission.
 */
package io.erda.client.operations;
