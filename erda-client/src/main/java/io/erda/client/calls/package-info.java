/**
 * Calls that wait: operations are driven until they end, one thread at a time, by the thread that
 * calls.
 *
 * <p>Read {@code ClientCore} first, which drives all operations of a client. {@code BlockingCalls}
 * runs one operation and waits for its end. {@code BatchCalls} takes several keys in groups, and
 * keeps the outcome of each. {@code Confinement} decides which thread owns a client, and how
 * another thread closes it.
 */
package io.erda.client.calls;
