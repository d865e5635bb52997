package io.erda.launcher.doctor;

import io.erda.launcher.posix.OwnProcess;
import java.nio.file.Path;
import jnr.constants.platform.RLIMIT;

/** The kernel's limits for a process. */
@FunctionalInterface
public interface KernelLimits {
  /** The value of a limit that is not set. */
  long UNLIMITED = OwnProcess.UNLIMITED;

  /** The limited resources. */
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

  /** The soft limit; {@link #UNLIMITED} when it is not set, −1 when it is unknown. */
  long soft(Of what);

  /** Limits from a list like {@code /proc/PID/limits}. */
  static KernelLimits ofList(Path list) {
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
   * The limits of this process, from the C library, or from the kernel's list when the library
   * can't be asked.
   */
  static KernelLimits ofThisProcess() {
    KernelLimits listed = ofList(Path.of("/proc/self/limits"));
    return what -> {
      long told = ofLibrary(what);
      return told >= 0 ? told : listed.soft(what);
    };
  }

  /** A limit of this process from the C library; −1 when that can't be asked. */
  static long ofLibrary(Of what) {
    return OwnProcess.softLimit(what.constant);
  }

  /** A number; −1 when the text is none. */
  private static long number(String text) {
    return text.matches("[0-9]{1,18}") ? Long.parseLong(text) : -1;
  }
}
