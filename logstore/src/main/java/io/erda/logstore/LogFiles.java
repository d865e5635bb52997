package io.erda.logstore;

import java.util.regex.Pattern;

/** The names of a log's files in its store's directory ({@code FORMAT.md}). */
public final class LogFiles {
  /** The region table. */
  public static final String REGIONS = "regions";

  /** The beginning of the names of regions' files. */
  public static final String REGION_PREFIX = "region-";

  private static final Pattern REGION = Pattern.compile(REGION_PREFIX + "[0-9]+-[0-9]+");

  /** The file of a region. */
  public static String region(int slot, int generation) {
    return REGION_PREFIX + slot + "-" + generation;
  }

  /** Whether a name is that of a region's file. */
  public static boolean isRegion(String name) {
    return REGION.matcher(name).matches();
  }

  private LogFiles() {}
}
