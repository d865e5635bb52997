package io.erda.eval.load;

import io.erda.ycsb.ErdaDb;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * One phase of load.
 *
 * @param insert load records instead of doing transactions
 * @param operations that are measured, of all threads together
 * @param warmup operations before them that are not measured
 * @param serverReadsPerMillion after how many of a million operations the thread also asks the
 *     server for its figures: a control for the measurement that the server does nothing
 * @param properties YCSB's
 */
public record LoadPhase(
    boolean insert,
    int threads,
    long operations,
    long warmup,
    int serverReadsPerMillion,
    Map<String, String> properties) {
  /**
   * The most inserts in flight of each thread when it loads records. Only the rate of a loading
   * phase is measured. Transactions are done one at a time.
   */
  public static final int INSERTS_IN_FLIGHT = 16;

  private static final String SEPARATOR = "\t";

  public LoadPhase {
    properties = Map.copyOf(properties);
  }

  /** A phase over a workload's properties with {@code overrides}, "name=value" each. */
  public static LoadPhase of(
      boolean insert, int threads, long operations, Properties workload, String... overrides) {
    Map<String, String> all = new TreeMap<>();
    workload.stringPropertyNames().forEach(name -> all.put(name, workload.getProperty(name)));
    all.put(ErdaDb.TRANSACTIONS, Boolean.toString(!insert));
    if (insert) {
      all.put(ErdaDb.BATCH_SIZE, Integer.toString(INSERTS_IN_FLIGHT));
    }
    for (String override : overrides) {
      int equals = override.indexOf('=');
      all.put(override.substring(0, equals), override.substring(equals + 1));
    }
    return new LoadPhase(insert, threads, operations, 0, 0, all);
  }

  public LoadPhase withWarmup(long count) {
    return new LoadPhase(insert, threads, operations, count, serverReadsPerMillion, properties);
  }

  public LoadPhase withServerReadsPerMillion(int count) {
    return new LoadPhase(insert, threads, operations, warmup, count, properties);
  }

  String format() {
    StringBuilder line = new StringBuilder();
    line.append(insert).append(SEPARATOR).append(threads).append(SEPARATOR).append(operations);
    line.append(SEPARATOR).append(warmup).append(SEPARATOR).append(serverReadsPerMillion);
    properties.forEach(
        (name, value) -> line.append(SEPARATOR).append(name).append('=').append(value));
    return line.toString();
  }

  static LoadPhase parse(String line) {
    String[] parts = line.split(SEPARATOR);
    Map<String, String> properties = new TreeMap<>();
    for (int i = 5; i < parts.length; i++) {
      int equals = parts[i].indexOf('=');
      properties.put(parts[i].substring(0, equals), parts[i].substring(equals + 1));
    }
    return new LoadPhase(
        Boolean.parseBoolean(parts[0]),
        Integer.parseInt(parts[1]),
        Long.parseLong(parts[2]),
        Long.parseLong(parts[3]),
        Integer.parseInt(parts[4]),
        properties);
  }
}
