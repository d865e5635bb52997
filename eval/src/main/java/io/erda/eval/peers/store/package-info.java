/**
 * A store as the measurement sees it, and Erda in this form. The adapters of the other stores are
 * in the module {@code peers}, which is built only when they are asked for.
 */
package io.erda.eval.peers.store;
