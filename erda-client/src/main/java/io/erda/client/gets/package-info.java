/**
 * Gets: find the entry of a key, READ its object, check it, and start again when it was moved or
 * replaced meanwhile (paper, section 4.3).
 *
 * <p>Read {@code Get} first: two one-sided READs, and when a key may be said to be absent. {@code
 * DirectGet} is its short form where a READ is done in the call, and {@code DirectGets} that for
 * several keys. {@code PrivateCopy} checks what was READ, {@code PendingVersions} looks at versions
 * that are announced and not written.
 */
package io.erda.client.gets;
