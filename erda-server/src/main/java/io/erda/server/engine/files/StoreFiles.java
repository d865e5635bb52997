package io.erda.server.engine.files;

import io.erda.logstore.LogFiles;
import io.erda.protocol.Root;
import io.erda.protocol.StopHeader;
import io.erda.protocol.SuperblockLayout;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The names of a store's files in its directory (erda-server's {@code FORMAT.md}). {@link LogFiles}
 * has the names of the files of the log.
 */
public final class StoreFiles {
  public static final String SUPERBLOCK = SuperblockLayout.FILE;
  public static final String ROOT = Root.FILE;

  /** The record that a server writes when it is stopped cleanly. */
  public static final String STOPPED = StopHeader.FILE;

  /** The file by which {@link UnwrittenMark#writeAgain} goes on after a kill. */
  static final String UNWRITTEN = "unwritten";

  /** The name of a superblock until its creation has ended. */
  public static final String SUPERBLOCK_NEW = SUPERBLOCK + ".new";

  /** The name of the record of a stop until the whole record is durable. */
  static final String STOPPED_NEW = STOPPED + ".new";

  /** The beginning of the names of tables' files. */
  public static final String TABLE_PREFIX = SuperblockLayout.TABLE_PREFIX;

  private static final Pattern TABLE = Pattern.compile(TABLE_PREFIX + "[0-9]+");

  /**
   * The files that a creation makes after the region table. An interrupted creation may leave them
   * behind.
   */
  public static final Set<String> MADE_AFTER_REGIONS = Set.of(ROOT, table(1), SUPERBLOCK_NEW);

  /**
   * Returns the name of a table's file. The generation of a table is its number among all tables
   * that the store has had.
   */
  public static String table(int generation) {
    return SuperblockLayout.table(generation);
  }

  /** Whether a name is that of a table's file. */
  public static boolean isTable(String name) {
    return TABLE.matcher(name).matches();
  }

  private StoreFiles() {}
}
