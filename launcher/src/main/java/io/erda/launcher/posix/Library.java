package io.erda.launcher.posix;

import io.erda.console.UserError;
import io.erda.pmem.FileSystemStatus;
import io.erda.pmem.libc.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import jnr.posix.POSIX;
import jnr.posix.POSIXFactory;

/**
 * The C library through jnr-posix, which unpacks a library to a file and loads it. That takes half
 * a second of processor time, so a server without options that need it does not use this. Any
 * thread.
 */
final class Library {
  /** Where jnr-posix unpacks its library; by default to the JVM's directory for temporary files. */
  private static final String UNPACKING = "jffi.extract.dir";

  private Library() {}

  /** The answer; empty when the library can't be loaded, or fails. */
  static <T> Optional<T> ask(Function<POSIX, T> question) {
    try {
      return unpackWhereProgramsMayBeRun()
          ? Optional.ofNullable(question.apply(POSIXFactory.getNativePOSIX()))
          : Optional.empty();
    } catch (LinkageError | RuntimeException e) {
      return Optional.empty();
    }
  }

  /**
   * The library, to change the process with.
   *
   * @param option the option that needs the library, for the message
   * @throws UserError when it can't be loaded
   */
  static POSIX require(String option) {
    Throwable why = null;
    try {
      if (unpackWhereProgramsMayBeRun()) {
        POSIX posix = POSIXFactory.getNativePOSIX();
        posix.getpid();
        return posix;
      }
    } catch (LinkageError | RuntimeException e) {
      why = e;
    }
    throw new UserError(
        option
            + " needs a native library, which can't be unpacked and loaded here"
            + (why == null ? "" : " (" + why + ")")
            + ": ERDA_JAVA_OPTS=-D"
            + UNPACKING
            + "=DIR names a directory that may be written and is not mounted noexec",
        1,
        why);
  }

  /**
   * Requires that a call succeeded.
   *
   * @param what could not be done otherwise, for the message
   * @throws UserError naming the call and the error
   */
  static void check(POSIX posix, String what, String call, int result) {
    if (result < 0) {
      throw new UserError(what + ": " + Errno.inWords(call, posix.errno()));
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
            .filter(Library::mayHoldPrograms)
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
