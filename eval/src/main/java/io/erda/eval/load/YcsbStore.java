package io.erda.eval.load;

import io.erda.console.Numbers;
import io.erda.eval.Experiment.Context;
import io.erda.eval.process.ServerChild;
import io.erda.ycsb.Workloads;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** A served store of YCSB records of one field of 1 KiB. Closing ends the server. */
public final class YcsbStore implements AutoCloseable {
  public static final int VALUE_BYTES = 1024;

  private final ServedStore store;
  private final long records;

  private YcsbStore(ServedStore store, long records) {
    this.store = store;
    this.records = records;
  }

  /**
   * Starts a server and loads it.
   *
   * @param puts the most puts that follow
   */
  public static YcsbStore start(Context context, long records, long puts) {
    return start(context, records, puts, 1, List.of());
  }

  /**
   * Starts a server and loads it.
   *
   * @param puts the most puts that follow
   * @param loaders threads that load it
   * @param more options of the server
   */
  public static YcsbStore start(
      Context context, long records, long puts, int loaders, List<String> more) {
    List<String> creation =
        new ArrayList<>(StoreSize.flags(records, records + puts, VALUE_BYTES + 64));
    creation.addAll(more);
    ServedStore store = ServedStore.create(context, "ycsb", creation);
    LoadChild load = store.newLoad();
    context.progress().step("load " + Numbers.count(records) + " records");
    load.run(LoadPhase.of(true, loaders, records, properties("workloadc", records)), done -> {});
    load.end();
    context.progress().done("");
    return new YcsbStore(store, records);
  }

  public ServerChild server() {
    return store.server();
  }

  public LoadChild newLoad() {
    return store.newLoad();
  }

  /** A phase of transactions of a workload. */
  public LoadPhase phase(String workload, int threads, long operations) {
    return LoadPhase.of(false, threads, operations, properties(workload, records));
  }

  /** Returns the phase with uniformly distributed keys. */
  public LoadPhase uniform(String workload, int threads, long operations) {
    Properties properties = properties(workload, records);
    properties.setProperty("requestdistribution", "uniform");
    return LoadPhase.of(false, threads, operations, properties);
  }

  /** A workload over this many records of one field of 1 KiB. */
  public static Properties properties(String workload, long records) {
    Properties properties = Workloads.load(workload);
    properties.setProperty("recordcount", Long.toString(records));
    properties.setProperty("fieldcount", "1");
    properties.setProperty("fieldlength", Integer.toString(VALUE_BYTES));
    return properties;
  }

  @Override
  public void close() {
    store.close();
  }
}
