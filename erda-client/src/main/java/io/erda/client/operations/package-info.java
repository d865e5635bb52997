/**
 * What the operations of a client have in common: steps, time-out, slot, and the way in which their
 * outcome is told.
 */
package io.erda.client.operations;
