/**
 * What clients did and saw, and whether a linearizable store can explain it: a recorder, a log that
 * survives its writer, and a checker per key (design, rules 1, 2 and 4). Needs nothing of the
 * simulation: real processes are checked with it too.
 */
package io.erda.simulation.history;
