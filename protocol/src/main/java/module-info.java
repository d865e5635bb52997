/** What client and server say to each other, byte by byte, and the errors a caller can act on. */
module io.erda.protocol {
  exports io.erda.protocol;
}
