/**
 * The checks of {@code verify}: every entry, every object and every checksum of a store that no
 * server has open.
 *
 * <p>Read {@code StoreInspection} first.
 */
package io.erda.server.engine.inspection;
