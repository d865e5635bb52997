/**
 * What {@code verify} does: every entry, every object and every checksum of a store that nobody
 * serves.
 *
 * <p>Read {@code StoreInspection} first.
 */
package io.erda.server.engine.inspection;
