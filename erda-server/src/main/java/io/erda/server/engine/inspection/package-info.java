/**
 * The check behind {@code verify}: every entry, object and checksum of a store that no server has
 * open.
 */
package io.erda.server.engine.inspection;
