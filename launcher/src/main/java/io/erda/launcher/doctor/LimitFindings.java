package io.erda.launcher.doctor;

import java.util.List;

/**
 * The kernel's limits for this process. A JVM, including a server's, raises its own limit of open
 * files to the hard one.
 */
final class LimitFindings {
  private static final long UNLIMITED = KernelLimits.UNLIMITED;

  /** Threads of a server, its JVM's included, and some for other processes of its user. */
  private static final long PROCESSES_FEW = 128;

  /** A server without clients has some forty descriptors open; each client takes more. */
  private static final long FILES_BESIDE_CLIENTS = 64;

  private static final long CONNECTIONS_DEFAULT = 1024;

  /** A region of the default size; the first table is smaller. */
  private static final long FILE_BYTES_MIN = 64L << 20;

  /** The default of kernels. */
  private static final long MAPPINGS_DEFAULT = 65_530;

  static List<Finding> of(Surroundings surroundings) {
    KernelLimits limits = surroundings.limits();
    return List.of(
        openFiles(limits.soft(KernelLimits.Of.OPEN_FILES)),
        fileBytes(limits.soft(KernelLimits.Of.FILE_BYTES)),
        processes(limits.soft(KernelLimits.Of.PROCESSES)),
        mappings(Surroundings.line(surroundings.proc().resolve("sys/vm/max_map_count"))));
  }

  private static Finding openFiles(long limit) {
    String mend = "ulimit -n 4096; a service: LimitNOFILE=4096";
    if (limit < 0) {
      return Finding.note("open files", "the limit is not told", mend);
    }
    if (limit < FILES_BESIDE_CLIENTS) {
      return Finding.wrong(
          "open files", limit + ": a server has some forty open without any client", mend);
    }
    return limit < FILES_BESIDE_CLIENTS + CONNECTIONS_DEFAULT
        ? Finding.note(
            "open files",
            limit
                + ": a server has some forty open and one for each client, and refuses clients"
                + " beyond; it is made for "
                + CONNECTIONS_DEFAULT
                + " of them by default",
            mend)
        : Finding.ok("open files", limit == UNLIMITED ? "unlimited" : Long.toString(limit));
  }

  private static Finding fileBytes(long limit) {
    if (limit < 0 || limit == UNLIMITED) {
      return Finding.ok("file size", limit < 0 ? "the limit is not told" : "unlimited");
    }
    String mend = "ulimit -f unlimited; a service: LimitFSIZE=infinity";
    return limit < FILE_BYTES_MIN
        ? Finding.wrong(
            "file size",
            ByteText.of(limit)
                + ": a region of the default size takes "
                + ByteText.of(FILE_BYTES_MIN),
            mend)
        : Finding.note(
            "file size", ByteText.of(limit) + ": the hash table can't grow beyond it", mend);
  }

  /** The limit of processes, which counts the threads of all processes of the user. */
  private static Finding processes(long limit) {
    return limit >= 0 && limit < PROCESSES_FEW
        ? Finding.note(
            "processes",
            limit
                + ": a server and its JVM are some sixty threads, and those of all processes of"
                + " this user count",
            "ulimit -u 4096; a service: LimitNPROC=4096")
        : Finding.ok(
            "processes",
            limit < 0
                ? "the limit is not told"
                : limit == UNLIMITED ? "unlimited" : Long.toString(limit));
  }

  private static Finding mappings(String text) {
    long most = number(text);
    if (most < 0) {
      return Finding.ok("mappings", "the limit is not told");
    }
    return most < MAPPINGS_DEFAULT
        ? Finding.note(
            "mappings",
            most + ": each region of the log and each client takes some of a process",
            "sysctl -w vm.max_map_count=" + MAPPINGS_DEFAULT)
        : Finding.ok("mappings", Long.toString(most));
  }

  /** A number; −1 when the text is none. */
  private static long number(String text) {
    return text.matches("[0-9]{1,18}") ? Long.parseLong(text) : -1;
  }

  private LimitFindings() {}
}
