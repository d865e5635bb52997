/** Puts that wait for a disk, that make the table grow, and that fill the server's core. */
package io.erda.eval.experiments.puts;
