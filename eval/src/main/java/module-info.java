/**
 * The experiments, the baselines, the peers, the report. At run time everything is on the class
 * path.
 */
module io.erda.eval {
  requires transitive io.erda.console;
  requires transitive io.erda.server;
  requires transitive io.erda.client;
  requires io.erda.ycsb;
  requires io.erda.hashtable;
  requires io.erda.logstore;
  requires io.erda.pmem;
  requires io.erda.protocol;
  requires io.erda.rdma;
  requires java.management;
  requires jdk.jfr;
  requires transitive com.fasterxml.jackson.databind;

  exports io.erda.eval;
  exports io.erda.eval.baselines;
  exports io.erda.eval.experiments;
  exports io.erda.eval.load;
  exports io.erda.eval.memcached;
  exports io.erda.eval.peers.process;
  exports io.erda.eval.peers.store;
  exports io.erda.eval.process;
  exports io.erda.eval.redis;
  exports io.erda.eval.report;
  exports io.erda.eval.sockets;

  opens io.erda.eval.commands to
      info.picocli;

  provides io.erda.console.CommandProvider with
      io.erda.eval.commands.EvalCommands;
}
