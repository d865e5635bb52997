package io.erda.testbed;

import java.util.List;
import java.util.random.RandomGenerator;

/**
 * A system call that fails: which one, with which error, the how-manieth, and whether the later
 * ones fail too.
 *
 * @param call as strace names it; with a {@code /} between those that do the same
 * @param ofFiles whether calls count alone that are about files of the store
 */
record FailingCall(String call, String error, int number, boolean andLater, boolean ofFiles) {
  /** A call, the errors that it may end with, and whether the JVM makes many of its own. */
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
          new Kind("munmap", true, "EINVAL", "ENOMEM"),
          new Kind("madvise", true, "EINVAL", "ENOMEM"),
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

  /** Draws one. Those of files come twice as often as the others. */
  static FailingCall draw(RandomGenerator random) {
    Kind kind = KINDS.get(random.nextInt(KINDS.size()));
    if (random.nextBoolean()) {
      kind = KINDS.get(random.nextInt(20));
    }
    int most = 1 << random.nextInt(1, 6);
    String error = kind.errors[random.nextInt(kind.errors.length)];
    // A call that a signal interrupts is done again, and no signal comes for ever.
    boolean andLater = random.nextInt(3) == 0 && !error.equals("EINTR");
    return new FailingCall(
        kind.calls,
        error,
        1 + random.nextInt(most),
        andLater,
        kind.ofFiles && !kind.calls.equals("munmap") && !kind.calls.equals("madvise"));
  }

  /** What strace traces. A name that this machine's kernel does not have is passed over. */
  String traced() {
    return "trace=" + "?" + call.replace("/", ",?");
  }

  /** What strace does to it. */
  String injected() {
    return "inject=%s:error=%s:when=%d%s"
        .formatted("?" + call.replace("/", ",?"), error, number, andLater ? "+" : "");
  }

  @Override
  public String toString() {
    return "%s %s, number %d%s"
        .formatted(call, error, number, andLater ? " and all later ones" : "");
  }
}
