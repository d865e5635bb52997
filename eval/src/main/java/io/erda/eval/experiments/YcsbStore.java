package io.erda.eval.experiments;

import io.erda.eval.Experiment.Context;
import io.erda.eval.load.LoadChild;
import io.erda.eval.load.LoadPhase;
import io.erda.eval.process.ServerChild;
import io.erda.eval.report.Table;
import io.erda.ycsb.Workloads;
import java.nio.file.Path;
import java.util.Properties;

/**
 * A server with YCSB records of one field of 1 KiB, and a process that loads it: what several
 * experiments begin with.
 */
final class YcsbStore {
  static final int VALUE_BYTES = 1024;

  private final Context context;
  private final ServerChild server;
  private final long records;

  private YcsbStore(Context context, ServerChild server, long records) {
    this.context = context;
    this.server = server;
    this.records = records;
  }

  /**
   * Starts a server and loads it.
   *
   * @param puts that are to follow at most
   */
  static YcsbStore start(Context context, long records, long puts) {
    Path data = context.children().temporaryDirectory(context.temporaryDirectory(), "erda-eval-");
    ServerChild server =
        ServerChild.start(
            context.children(),
            context.jvm(),
            data,
            StoreSize.flags(records, records + puts, VALUE_BYTES + 64));
    YcsbStore store = new YcsbStore(context, server, records);
    LoadChild load = store.newLoad();
    context.progress().step("load " + Table.count(records) + " records");
    load.run(LoadPhase.of(true, 1, records, store.properties("workloadc")), done -> {});
    load.end();
    context.progress().done("");
    return store;
  }

  ServerChild server() {
    return server;
  }

  LoadChild newLoad() {
    return LoadChild.start(context.children(), context.jvm(), server.uri());
  }

  /** A phase of transactions of a workload. */
  LoadPhase phase(String workload, int threads, long operations) {
    return LoadPhase.of(false, threads, operations, properties(workload));
  }

  private Properties properties(String workload) {
    Properties properties = Workloads.load(workload);
    properties.setProperty("recordcount", Long.toString(records));
    properties.setProperty("fieldcount", "1");
    properties.setProperty("fieldlength", Integer.toString(VALUE_BYTES));
    return properties;
  }
}
