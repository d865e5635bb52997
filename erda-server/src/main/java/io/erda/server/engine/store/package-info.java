/**
 * A store that is open: how it is opened and recovered, {@link
 * io.erda.server.engine.store.StoreEngine} with all its parts, and its behaviour when memory or a
 * file fails.
 */
package io.erda.server.engine.store;
