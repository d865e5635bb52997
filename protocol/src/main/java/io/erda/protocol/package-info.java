/**
 * The protocol between client and server, byte by byte: the handshake, the control messages, the
 * root that every read checks, and the errors to which a caller can react. See {@code FORMAT.md}.
 *
 * <p>Read {@link io.erda.protocol.Message} first; its Javadoc has the layout of all messages,
 * {@code FORMAT.md} has examples of them, and {@code FormatTest} checks both. {@link
 * io.erda.protocol.Protocol} has the version, which is raised when one side would misread the
 * other. {@link io.erda.protocol.Result} has the results of requests, and {@link
 * io.erda.protocol.ErdaException} the exceptions for callers.
 */
package io.erda.protocol;
