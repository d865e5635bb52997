/**
 * Calls that wait: operations are driven until they end, one thread at a time, by the thread that
 * calls.
 *
 * <p>Read {@code ClientCore} first, which drives all operations of a client. {@code BlockingCalls}
 * waits for one, {@code BatchCalls} takes several keys in groups and has the outcome of each;
 * {@code Confinement} says which thread owns a client and how another one closes it.
 */
package io.erda.client.calls;
