/** {@code site.ycsb.DB} over the Erda client. At run time everything is on the class path. */
module io.erda.ycsb {
  requires io.erda.client;
  requires io.erda.protocol;
  requires core; // site.ycsb:core, an automatic module

  exports io.erda.ycsb;
}
