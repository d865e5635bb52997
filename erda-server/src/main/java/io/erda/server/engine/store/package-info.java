/**
 * A store that is open: how it is opened and recovered, {@link
 * io.erda.server.engine.store.StoreEngine} with everything that belongs to it, {@code StoreWriter}
 * with everything that changes it, and what is left of it when memory or a file fails.
 *
 * <p>Read {@code StoreOpening} first, then {@code Recovery}: each of their steps may be interrupted
 * and repeated. {@code EngineCrashTest} tries a crash at every store.
 */
package io.erda.server.engine.store;
