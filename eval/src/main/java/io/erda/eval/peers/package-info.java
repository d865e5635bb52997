/**
 * Compares Erda, in one run, with stores that are in use today: the measurements, goals and
 * reports.
 */
package io.erda.eval.peers;
