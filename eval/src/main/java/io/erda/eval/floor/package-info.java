/** The least that operations can take on this machine, beside which Erda's figures stand. */
package io.erda.eval.floor;
