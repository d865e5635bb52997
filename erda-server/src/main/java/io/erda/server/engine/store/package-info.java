/**
 * An open store: its opening and recovery, the {@link io.erda.server.engine.store.StoreEngine} with
 * all its parts, the {@code StoreWriter} that changes it, and the handling of failures of memory
 * and files.
 *
 * <p>Read {@code StoreOpening} first, then {@code Recovery}: each of their steps may be interrupted
 * and repeated. {@code EngineCrashTest} tries a crash at every store to memory.
 */
package io.erda.server.engine.store;
