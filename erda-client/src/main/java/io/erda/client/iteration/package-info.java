/** Iterations over all keys: the table is READ in stretches, and then the objects that it names. */
package io.erda.client.iteration;
