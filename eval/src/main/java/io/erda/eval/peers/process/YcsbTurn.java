package io.erda.eval.peers.process;

import io.erda.eval.load.LoadResult;
import io.erda.eval.load.MeasuredDb;
import io.erda.ycsb.Workloads;
import java.util.Properties;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/**
 * One thread of YCSB's core workload over the objects of a store, one operation after the other.
 */
final class YcsbTurn {
  private static final int STRIDE = 64;

  private final MeasuredDb db;
  private final CoreWorkload workload;
  private final Object state;

  /**
   * @param name of a workload's file
   */
  YcsbTurn(PeerObjects objects, String name) throws WorkloadException {
    Properties properties = Workloads.load(name);
    properties.setProperty("recordcount", Long.toString(objects.count()));
    properties.setProperty("fieldcount", "1");
    properties.setProperty("fieldlength", Integer.toString(objects.valueBytes()));
    // Keys end with the plain number: they are mixed anyway, and the hot ones are drawn by hash.
    properties.setProperty("insertorder", "ordered");
    Measurements.setProperties(new Properties()); // required by a workload when it is made
    workload = new CoreWorkload();
    workload.init(properties);
    state = workload.initThread(properties, 0, 1);
    db = new MeasuredDb(new PeerDb(objects), System::nanoTime);
  }

  /** Inserts every object once. */
  LoadResult load(long objects) {
    db.reset();
    long startNs = System.nanoTime();
    for (long i = 0; i < objects; i++) {
      workload.doInsert(db, state);
    }
    return db.result(objects, System.nanoTime() - startNs);
  }

  /** Does transactions for a time. */
  LoadResult run(long ns) {
    db.reset();
    long operations = 0;
    long startNs = System.nanoTime();
    long elapsedNs;
    do {
      for (int i = 0; i < STRIDE; i++) {
        workload.doTransaction(db, state);
      }
      operations += STRIDE;
      elapsedNs = System.nanoTime() - startNs;
    } while (elapsedNs < ns);
    return db.result(operations, elapsedNs);
  }
}
