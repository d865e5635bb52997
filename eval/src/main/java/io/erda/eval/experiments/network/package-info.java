/** Gets over TCP. */
package io.erda.eval.experiments.network;
