/**
 * Calls that wait: operations are driven until they end, one thread at a time, by the thread that
 * calls.
 */
package io.erda.client.calls;
