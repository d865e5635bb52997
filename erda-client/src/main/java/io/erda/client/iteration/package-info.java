/**
 * Iterations over all keys: the table is READ in stretches, and the log for what the table names.
 */
package io.erda.client.iteration;
