/**
 * The protocol between client and server, byte by byte, and the errors to which a caller can react.
 */
module io.erda.protocol {
  exports io.erda.protocol;
}
