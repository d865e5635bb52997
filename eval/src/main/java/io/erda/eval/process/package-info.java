/**
 * The processes that a measurement starts: starting, commanding, timing, and always ending them.
 */
package io.erda.eval.process;
