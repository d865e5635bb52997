/**
 * The interface of a measured store, and its implementations for Erda, Redis and memcached. The
 * adapters of stores in third-party jars are in the module {@code peers}, which is only built on
 * demand.
 */
package io.erda.eval.peers.store;
