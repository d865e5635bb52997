/**
 * What client and server say to each other, byte by byte: the handshake, the control messages, the
 * root that every read checks, and the errors that a caller can act on. See {@code FORMAT.md}.
 */
package io.erda.protocol;
