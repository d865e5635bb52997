/**
 * Gets: find the entry of a key, READ its object, check it, and start again when it was moved or
 * replaced meanwhile (paper, section 4.3).
 */
package io.erda.client.gets;
