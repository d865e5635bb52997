/**
 * What client and server say to each other, byte by byte: the handshake, the control messages, the
 * root that every read checks, and the errors that a caller can act on. See {@code FORMAT.md}.
 *
 * <p>Read {@link io.erda.protocol.Message} first; its Javadoc is the layout of all messages, of
 * which {@code FORMAT.md} has examples, and {@code FormatTest} holds both. {@link
 * io.erda.protocol.Protocol} has the version, which rises when one side would misread the other.
 * {@link io.erda.protocol.Result} is what a server answers, {@link io.erda.protocol.ErdaException}
 * what a caller is told.
 */
package io.erda.protocol;
