/**
 * Erda beside stores that people use today, all in one run: what is measured, what must come out,
 * and the report.
 */
package io.erda.eval.peers;
