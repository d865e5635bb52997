package io.erda.eval.load;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.function.LongSupplier;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * Times every operation of a database in nanoseconds, and counts those that did not answer OK. One
 * thread. Owns the database.
 */
public final class MeasuredDb extends DB {
  private final DB db;
  private final LongSupplier nanoTime;
  private final Latencies reads = new Latencies();
  private final Latencies updates = new Latencies();
  private long errors;
  private long updatesDone;

  public MeasuredDb(DB db, LongSupplier nanoTime) {
    this.db = db;
    this.nanoTime = nanoTime;
  }

  /** Clears the measurements. */
  public void reset() {
    reads.reset();
    updates.reset();
    errors = 0;
    updatesDone = 0;
  }

  /**
   * The measurements.
   *
   * @param operations of YCSB, some of which may be several operations of the database
   */
  public LoadResult result(long operations, long elapsedNs) {
    return new LoadResult(
        operations, errors, updatesDone, elapsedNs, reads.percentiles(), updates.percentiles());
  }

  Latencies reads() {
    return reads;
  }

  Latencies updates() {
    return updates;
  }

  long errors() {
    return errors;
  }

  long updatesDone() {
    return updatesDone;
  }

  @Override
  public void setProperties(Properties properties) {
    db.setProperties(properties);
  }

  @Override
  public Properties getProperties() {
    return db.getProperties();
  }

  @Override
  public void init() throws DBException {
    db.init();
  }

  @Override
  public void cleanup() throws DBException {
    db.cleanup();
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    long startNs = nanoTime.getAsLong();
    Status status = db.read(table, key, fields, result);
    reads.record(nanoTime.getAsLong() - startNs);
    errors += status.isOk() ? 0 : 1;
    return status;
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    long startNs = nanoTime.getAsLong();
    return written(db.update(table, key, values), startNs);
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    long startNs = nanoTime.getAsLong();
    return written(db.insert(table, key, values), startNs);
  }

  @Override
  public Status delete(String table, String key) {
    long startNs = nanoTime.getAsLong();
    return written(db.delete(table, key), startNs);
  }

  @Override
  public Status scan(
      String table,
      String startKey,
      int count,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    Status status = db.scan(table, startKey, count, fields, result);
    errors += status.isOk() ? 0 : 1;
    return status;
  }

  private Status written(Status status, long startNs) {
    updates.record(nanoTime.getAsLong() - startNs);
    if (status.isOk()) {
      updatesDone++;
    } else {
      errors++;
    }
    return status;
  }
}
