/**
 * What {@code verify} does: every entry, every object and every checksum of a store that nobody
 * serves.
 */
package io.erda.server.engine.inspection;
