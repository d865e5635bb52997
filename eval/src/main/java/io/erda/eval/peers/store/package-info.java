/**
 * A store as the measurement sees it, and Erda, Redis and memcached in this form. The adapters of
 * stores that are jars of others are in the module {@code peers}, which is built only when they are
 * asked for.
 */
package io.erda.eval.peers.store;
