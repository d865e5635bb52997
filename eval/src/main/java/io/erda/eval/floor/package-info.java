/**
 * The least times of operations over shared memory on this machine, with which Erda's are compared.
 */
package io.erda.eval.floor;
