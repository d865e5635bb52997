/** The stores that Erda is measured beside, in the form that {@code eval} measures. */
package io.erda.peers;
