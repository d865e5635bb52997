/** The experiments that {@code eval run} knows, and what several of them set up. */
package io.erda.eval.experiments;
