package io.erda.testbed;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A system call that fails, or in which the program is killed: its name, error and number, and
 * whether later ones fail, too.
 *
 * @param call as strace names it; equivalent calls are separated by {@code /}
 * @param ofFiles whether only calls on files of the store count
 */
record FailingCall(String call, String error, int number, boolean andLater, boolean ofFiles) {
  /**
   * A kind of call, its possible errors, and whether only calls on the store's files fail because
   * the JVM makes many others.
   */
  private record Kind(String calls, boolean ofFiles, String... errors) {}

  private static final List<Kind> KINDS =
      List.of(
          new Kind("openat", true, "EMFILE", "ENFILE", "EIO", "ENOMEM", "EACCES", "ENOSPC"),
          new Kind("newfstatat/fstat/statx", true, "EIO", "ENOMEM", "EACCES"),
          new Kind("mmap", true, "ENOMEM", "EACCES", "ENODEV"),
          new Kind("read", true, "EIO"),
          new Kind("pread64", true, "EIO"),
          new Kind("write", true, "EIO", "ENOSPC"),
          new Kind("close", true, "EIO"),
          new Kind("lseek", true, "EIO"),
          new Kind("ftruncate", false, "EIO", "ENOSPC"),
          new Kind("fallocate", false, "EIO", "ENOSPC", "EDQUOT", "EINTR", "EOPNOTSUPP"),
          new Kind("pwrite64", false, "EIO", "ENOSPC"),
          new Kind("fsync/fdatasync", false, "EIO", "ENOSPC"),
          new Kind("msync", false, "EIO", "ENOMEM"),
          new Kind("sync_file_range", false, "EIO", "ENOSPC", "ENOSYS"),
          new Kind("munmap", false, "EINVAL", "ENOMEM"),
          new Kind("madvise", false, "EINVAL", "ENOMEM"),
          new Kind("link/linkat", false, "EPERM", "EOPNOTSUPP", "EIO", "ENOSPC"),
          new Kind("rename/renameat/renameat2", false, "EIO", "EBUSY", "ENOSPC"),
          new Kind("unlink/unlinkat", false, "EIO", "EBUSY", "EPERM"),
          new Kind("flock", false, "EIO", "ENOLCK", "EINTR"),
          new Kind("fcntl", true, "ENOLCK", "EIO"),
          new Kind("getdents64", false, "EIO", "ENOMEM"),
          new Kind("fstatfs/statfs", true, "EIO"),
          new Kind("fchmod/fchown", false, "EPERM", "EIO"),
          new Kind("mkdir/mkdirat", false, "EIO", "ENOSPC", "EACCES"),
          new Kind("socket", false, "EMFILE", "ENFILE", "ENOMEM"),
          new Kind("bind", false, "EADDRINUSE", "EIO", "EACCES"),
          new Kind("listen", false, "EADDRINUSE"),
          new Kind("connect", false, "ECONNREFUSED", "ENETUNREACH", "EACCES", "EAGAIN"),
          new Kind("accept4/accept", false, "EMFILE", "ECONNABORTED", "ENFILE", "ENOMEM"),
          new Kind("sendmsg/sendto", false, "EIO", "ENOBUFS", "ECONNRESET"),
          new Kind("recvmsg/recvfrom", false, "EIO", "ECONNRESET"),
          new Kind("eventfd2", false, "EMFILE"),
          new Kind("epoll_create1", false, "EMFILE", "ENOMEM"),
          new Kind("epoll_ctl", false, "ENOMEM", "ENOSPC"),
          new Kind("epoll_wait", false, "EINTR"),
          new Kind("poll", false, "EINTR", "ENOMEM"));

  private static final List<Kind> OF_CONNECTIONS =
      List.of(
          new Kind("read/readv", false, "ECONNRESET", "ETIMEDOUT"),
          new Kind("write/writev", false, "ECONNRESET", "EPIPE"));

  /**
   * After these errors the JVM repeats the call at once, in native code that nothing wakes, which
   * is correct: signals do not arrive for ever, and a connection that its client has given up is
   * reported once. A call that always fails in this way does not occur with a real kernel.
   */
  private static final Set<String> AT_ONCE_AGAIN = Set.of("EINTR", "ECONNABORTED");

  /** In place of an error: the program is killed in the call. */
  private static final String KILL = "SIGKILL";

  /** The word of strace's arguments that only such a call has. */
  static final String OF_A_KILL = "signal=kill";

  /** The calls that change the store's files. */
  private static final Set<String> CHANGES =
      Set.of(
          "ftruncate",
          "fallocate",
          "pwrite64",
          "fsync/fdatasync",
          "msync",
          "link/linkat",
          "rename/renameat/renameat2",
          "unlink/unlinkat");

  /**
   * Draws one of the calls that a program makes.
   *
   * @param killed whether the program may be killed in it, too
   * @param connected whether it has been running for a while, and most of its reads and writes are
   *     of TCP
   */
  static FailingCall draw(
      RandomGenerator random, CallCounts counts, boolean killed, boolean connected) {
    List<Kind> made =
        Stream.concat(KINDS.stream(), connected ? OF_CONNECTIONS.stream() : Stream.of())
            .filter(kind -> counts.most(kind.calls, kind.ofFiles) > 0)
            .toList();
    Kind kind = made.get(random.nextInt(made.size()));
    int most = counts.most(kind.calls, kind.ofFiles);
    // The first calls belong to the start, in which most different things happen.
    int within = random.nextBoolean() ? most : Math.min(most, 1 << random.nextInt(1, 6));
    int number = 1 + random.nextInt(within);
    if (killed && CHANGES.contains(kind.calls) && random.nextInt(3) == 0) {
      return new FailingCall(kind.calls, KILL, number, false, kind.ofFiles);
    }
    String error = kind.errors[random.nextInt(kind.errors.length)];
    boolean andLater = random.nextInt(3) == 0 && !AT_ONCE_AGAIN.contains(error);
    return new FailingCall(kind.calls, error, number, andLater, kind.ofFiles);
  }

  /** Parses the result of {@link #text}. */
  static FailingCall parse(String text) {
    String[] words = text.split(":");
    boolean andLater = words[2].endsWith("+");
    return new FailingCall(
        words[0],
        words[1],
        Integer.parseInt(andLater ? words[2].substring(0, words[2].length() - 1) : words[2]),
        andLater,
        words.length > 3);
  }

  private boolean kills() {
    return error.equals(KILL);
  }

  /** One word for a command line. */
  String text() {
    return call + ":" + error + ":" + number + (andLater ? "+" : "") + (ofFiles ? ":files" : "");
  }

  /**
   * The arguments with which strace makes it fail. Names that this machine's kernel does not have
   * are skipped.
   *
   * @param paths the paths of which a call must have one, if only calls on files count
   */
  List<String> arguments(Collection<String> paths) {
    String calls = "?" + call.replace("/", ",?");
    List<String> words =
        new ArrayList<>(
            List.of(
                "-y",
                "-e",
                "trace=" + calls,
                "-e",
                "inject=%s:%s:when=%d%s"
                    .formatted(
                        calls,
                        kills() ? "signal=KILL" : "error=" + error,
                        number,
                        andLater ? "+" : ""),
                "-e",
                kills() ? OF_A_KILL : "signal=none"));
    if (ofFiles) {
      paths.forEach(path -> words.addAll(List.of("-P", path)));
    }
    return words;
  }

  /** The arguments with which strace records all calls. */
  static String allTraced() {
    return Stream.concat(KINDS.stream(), OF_CONNECTIONS.stream())
        .map(kind -> "?" + kind.calls.replace("/", ",?"))
        .distinct()
        .collect(Collectors.joining(",", "trace=", ""));
  }

  @Override
  public String toString() {
    return "%s %s, number %d%s%s"
        .formatted(
            call,
            error,
            number,
            andLater ? " and all later ones" : "",
            ofFiles ? " about the store's files" : "");
  }
}
