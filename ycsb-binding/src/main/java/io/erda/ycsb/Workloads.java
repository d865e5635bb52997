package io.erda.ycsb;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Properties;

/**
 * The workload files of the directory {@code workloads} at the repository's root, loaded from the
 * class path.
 */
public final class Workloads {
  /** The available workloads. YCSB's workload E scans, and a hash index keeps no order. */
  public static final List<String> NAMES =
      List.of("workloada", "workloadb", "workloadc", "workloadd", "workloadf", "updateonly");

  /** The properties of a workload of {@link #NAMES}. */
  public static Properties load(String name) {
    Properties properties = new Properties();
    try (InputStream in = Workloads.class.getResourceAsStream("/io/erda/ycsb/workloads/" + name)) {
      if (in == null) {
        throw new IllegalArgumentException("no such workload: " + name + "; there are " + NAMES);
      }
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties;
  }

  private Workloads() {}
}
