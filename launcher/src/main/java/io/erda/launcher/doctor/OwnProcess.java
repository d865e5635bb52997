package io.erda.launcher.doctor;

import io.erda.pmem.FileSystemStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import jnr.constants.platform.RLIMIT;
import jnr.posix.POSIX;
import jnr.posix.POSIXFactory;
import jnr.posix.Passwd;
import jnr.posix.RLimit;

/**
 * The limits and the user of this process, from the C library through jnr-posix, which unpacks a
 * library to a file and loads it. That takes half a second of processor time, so a starting server
 * does not use this. Any thread.
 */
final class OwnProcess {
  /** Where jnr-posix unpacks its library; by default to the JVM's directory for temporary files. */
  private static final String UNPACKING = "jffi.extract.dir";

  private OwnProcess() {}

  /** The soft limit, {@link KernelLimits#UNLIMITED} when it is not set, −1 when it can't be asked. */
  static long softLimit(RLIMIT of) {
    return ask(posix -> posix.getrlimit(of.intValue()))
        .map(RLimit::rlimCur)
        .map(limit -> limit < 0 ? KernelLimits.UNLIMITED : limit)
        .orElse(-1L);
  }

  /** The name of this process's user; the number when the user has no name. */
  static String userName() {
    return ask(OwnProcess::nameOrNumber).orElse(System.getProperty("user.name"));
  }

  private static String nameOrNumber(POSIX posix) {
    int number = posix.geteuid();
    Passwd entry = posix.getpwuid(number);
    return entry == null ? Integer.toString(number) : entry.getLoginName();
  }

  /** The answer; empty when the library can't be loaded, or fails. */
  private static <T> Optional<T> ask(Function<POSIX, T> question) {
    try {
      return unpackWhereProgramsMayBeRun()
          ? Optional.ofNullable(question.apply(POSIXFactory.getNativePOSIX()))
          : Optional.empty();
    } catch (LinkageError | RuntimeException e) {
      return Optional.empty();
    }
  }

  /**
   * Chooses another directory for unpacking when the one for temporary files is mounted noexec,
   * since no library can be mapped from there.
   *
   * @return false when there is none
   */
  private static synchronized boolean unpackWhereProgramsMayBeRun() {
    if (System.getProperty(UNPACKING) != null) {
      return true;
    }
    Optional<String> directory =
        Stream.of(
                System.getProperty("java.io.tmpdir"),
                System.getenv("XDG_RUNTIME_DIR"),
                System.getProperty("user.home"),
                "/var/tmp",
                "/dev/shm")
            .filter(OwnProcess::mayHoldPrograms)
            .findFirst();
    directory.ifPresent(found -> System.setProperty(UNPACKING, found));
    return directory.isPresent();
  }

  private static boolean mayHoldPrograms(String directory) {
    if (directory == null) {
      return false;
    }
    Path path = Path.of(directory);
    try {
      return Files.isDirectory(path)
          && Files.isWritable(path)
          && !FileSystemStatus.of(path).isNoExec();
    } catch (IOException e) {
      return false;
    }
  }
}
