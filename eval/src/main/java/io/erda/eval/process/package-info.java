/**
 * Processes that a measurement starts: how they are started, spoken to, timed, and always ended.
 */
package io.erda.eval.process;
