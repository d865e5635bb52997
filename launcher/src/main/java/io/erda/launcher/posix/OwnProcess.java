package io.erda.launcher.posix;

import io.erda.console.UserError;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import jnr.constants.platform.RLIMIT;
import jnr.posix.POSIX;
import jnr.posix.Passwd;
import jnr.posix.RLimit;

/** Limits, user, priority and umask of this process. Any thread. */
public final class OwnProcess {
  /** The value of a limit that is not set. */
  public static final long UNLIMITED = Long.MAX_VALUE;

  private static final int PRIO_PROCESS = 0;

  private OwnProcess() {}

  /** The soft limit, {@link #UNLIMITED} when it is not set, −1 when it can't be asked. */
  public static long softLimit(RLIMIT of) {
    return Library.ask(posix -> posix.getrlimit(of.intValue()))
        .map(RLimit::rlimCur)
        .map(limit -> limit < 0 ? UNLIMITED : limit)
        .orElse(-1L);
  }

  /** The name of this process's user; the number when the user has no name. */
  public static String userName() {
    return Library.ask(OwnProcess::nameOrNumber).orElse(System.getProperty("user.name"));
  }

  private static String nameOrNumber(POSIX posix) {
    int number = posix.geteuid();
    Passwd entry = posix.getpwuid(number);
    return entry == null ? Integer.toString(number) : entry.getLoginName();
  }

  /**
   * Gives the process a niceness. On Linux that is each thread's own, and a new thread has that of
   * the thread that starts it; so all are asked until none is new.
   *
   * @param niceness −20 to 19
   * @throws UserError when the kernel refuses
   */
  public static void nice(int niceness) {
    POSIX posix = Library.require("--nice");
    Set<Integer> done = new HashSet<>();
    boolean more = true;
    while (more) {
      more = false;
      for (int thread : threads()) {
        if (done.add(thread)) {
          more = true;
          int result = posix.setpriority(PRIO_PROCESS, thread, niceness);
          // A thread that has ended meanwhile needs none.
          if (result < 0 && Files.exists(Path.of("/proc/self/task", Integer.toString(thread)))) {
            Library.check(posix, "--nice " + niceness, "setpriority", result);
          }
        }
      }
    }
  }

  private static Set<Integer> threads() {
    Set<Integer> all = new HashSet<>();
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
      tasks.forEach(task -> all.add(Integer.valueOf(task.getFileName().toString())));
    } catch (IOException e) {
      throw new UserError("--nice: the threads of this process can't be listed: " + e, 1, e);
    }
    return all;
  }

  /**
   * Sets which permissions the files that this process makes do not get.
   *
   * @param mask 0 to 0777
   */
  public static void umask(int mask) {
    Library.require("--umask").umask(mask);
  }
}
