/** {@code site.ycsb.DB} over the Erda client. At run time everything is on the class path. */
module io.erda.ycsb {
  requires io.erda.client;
  requires io.erda.protocol;

  exports io.erda.ycsb;
}
