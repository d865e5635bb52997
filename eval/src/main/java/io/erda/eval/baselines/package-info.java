/**
 * The two schemes that the Erda paper compares itself with (section 5.1), on Erda's own seams: Redo
 * Logging and Read After Write. What they do and why stands in {@code
 * docs/decisions/2026-11-23-baselines.md}.
 */
package io.erda.eval.baselines;
