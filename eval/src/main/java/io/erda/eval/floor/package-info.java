/**
 * The least that operations over shared memory can take on this machine, beside which Erda's
 * figures stand.
 */
package io.erda.eval.floor;
