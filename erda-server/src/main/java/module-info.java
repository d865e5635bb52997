/**
 * The KV service: requests, leases, connections, recovery; and the store that lives in one JVM with
 * its client.
 */
module io.erda.server {
  requires transitive io.erda.client;
  requires transitive io.erda.protocol;
  requires transitive io.erda.cleaner;
  requires io.erda.hashtable;
  requires io.erda.logstore;
  requires transitive io.erda.pmem;
  requires transitive io.erda.rdma;
  requires jdk.jfr;
  requires jdk.management;
  requires java.management;

  exports io.erda.server;
  exports io.erda.server.figures;
  exports io.erda.server.engine.files to
      io.erda.eval;
  exports io.erda.server.engine.service to
      io.erda.eval;
  exports io.erda.server.engine.store to
      io.erda.eval;
  exports io.erda.server.engine.tables to
      io.erda.eval;
}
