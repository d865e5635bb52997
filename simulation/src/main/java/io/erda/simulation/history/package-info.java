/**
 * Histories of clients' operations, and the check that they are linearizable: a recorder, a log
 * that survives its writer, and a checker per key (design, rules 1, 2 and 4). Independent of the
 * simulation: real processes are checked with it, too.
 */
package io.erda.simulation.history;
