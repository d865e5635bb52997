/** The library that applications embed: get, put, delete. */
module io.erda.client {
  requires transitive io.erda.protocol;
  requires transitive io.erda.rdma;
  requires io.erda.hashtable;
  requires io.erda.logstore;

  exports io.erda.client;
  exports io.erda.client.connections to
      io.erda.server,
      io.erda.simulation;
  exports io.erda.client.files to
      io.erda.simulation;
}
