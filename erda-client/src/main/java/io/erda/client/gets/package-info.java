/**
 * Gets: find the entry of a key, READ its object, check it, and start again when it was moved or
 * replaced in the meantime (paper, section 4.3).
 *
 * <p>Read {@code Get} first: it does two one-sided READs, and decides when a key is absent. {@code
 * DirectGet} is its short form for devices that do a READ within the call, and {@code DirectGets}
 * is the short form for several keys. {@code PrivateCopy} checks the bytes that were READ. {@code
 * PendingVersions} examines versions that are announced but perhaps not written.
 */
package io.erda.client.gets;
