/** Puts that wait for a disk, and puts that make the table grow. */
package io.erda.eval.experiments.puts;
