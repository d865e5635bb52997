/** The verbs seam, and the devices that need the JDK alone. */
module io.erda.rdma {
  requires jdk.net;
  requires jdk.nio.mapmode;
  requires transitive io.erda.pmem;

  exports io.erda.rdma;
}
