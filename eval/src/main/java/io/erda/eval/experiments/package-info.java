/** The experiments that {@code eval run} knows. Each package in here has those of one idea. */
package io.erda.eval.experiments;
