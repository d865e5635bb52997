package io.erda.launcher.doctor;

import java.nio.file.Path;
import jnr.constants.platform.RLIMIT;

/** The limits that the kernel holds a process to. */
@FunctionalInterface
public interface Limits {
  /** What is said of a limit that is none. */
  long UNLIMITED = Long.MAX_VALUE;

  /** What there are limits of. */
  enum Of {
    OPEN_FILES("Max open files", RLIMIT.RLIMIT_NOFILE),
    FILE_BYTES("Max file size", RLIMIT.RLIMIT_FSIZE),
    PROCESSES("Max processes", RLIMIT.RLIMIT_NPROC),
    LOCKED_BYTES("Max locked memory", RLIMIT.RLIMIT_MEMLOCK);

    private final String nameInList;
    private final RLIMIT constant;

    Of(String nameInList, RLIMIT constant) {
      this.nameInList = nameInList;
      this.constant = constant;
    }
  }

  /** The soft limit; {@link #UNLIMITED} where there is none, −1 where it is not told. */
  long soft(Of what);

  /** Those of a list as {@code /proc/PID/limits} is. */
  static Limits ofList(Path list) {
    return what -> {
      for (String line : Surroundings.lines(list)) {
        if (line.startsWith(what.nameInList + " ")) {
          String soft = line.substring(what.nameInList.length()).strip().split("\\s+")[0];
          return soft.equals("unlimited") ? UNLIMITED : number(soft);
        }
      }
      return -1;
    };
  }

  /**
   * Those of this process, as the C library tells them; what the kernel's list says where that
   * can't be asked.
   */
  static Limits ofThisProcess() {
    Limits listed = ofList(Path.of("/proc/self/limits"));
    return what -> {
      long told = ofLibrary(what);
      return told >= 0 ? told : listed.soft(what);
    };
  }

  /** The limit of this process as the C library tells it; −1 where it can't be asked. */
  static long ofLibrary(Of what) {
    return OwnProcess.softLimit(what.constant);
  }

  /** −1 where it is none. */
  private static long number(String text) {
    return text.matches("[0-9]{1,18}") ? Long.parseLong(text) : -1;
  }
}
