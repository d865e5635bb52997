/**
 * A store that is open: how it is opened and recovered, {@link
 * io.erda.server.engine.store.StoreEngine} with everything that belongs to it, and what is left of
 * it when memory or a file fails.
 */
package io.erda.server.engine.store;
