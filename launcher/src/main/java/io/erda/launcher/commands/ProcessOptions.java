package io.erda.launcher.commands;

import io.erda.console.UserError;
import io.erda.launcher.posix.OwnProcess;
import io.erda.launcher.posix.ProcessUser;
import io.erda.pmem.FileErrors;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/** The options of a server about its process. */
final class ProcessOptions {
  private static final int NICE_MIN = -20;
  private static final int NICE_MAX = 19;

  @Option(
      names = "--nice",
      paramLabel = "N",
      description =
          "The process's niceness, -20 (most of the processor) to 19 (least); unchanged by default."
              + " Less than it has takes a right that the superuser has.")
  private Integer niceness;

  @Option(
      names = "--umask",
      paramLabel = "OCTAL",
      description =
          "Which permissions the files that the server makes do not get, 000 to 077; unchanged by"
              + " default. Those of a store that --mode gives to others have the permissions that"
              + " it takes.")
  private String umask;

  @Option(
      names = "--user",
      paramLabel = "NAME[:GROUP]",
      description =
          "Of the superuser alone: become this user, with the user's groups, when addresses are"
              + " taken and keys are read, and before the store is opened. A directory that is not"
              + " there is made for the user.")
  private String userName;

  private ProcessUser user;

  /** Requires that all values are possible ones, and looks the user up. */
  void check() {
    if (niceness != null && (niceness < NICE_MIN || niceness > NICE_MAX)) {
      throw new UserError("--nice is -20 to 19: " + niceness, 2);
    }
    if (umask != null && !umask.matches("0{0,2}[0-7]{1,2}")) {
      throw new UserError(
          "--umask is 000 to 077, since a server needs all rights to its files itself: " + umask,
          2);
    }
    user = userName == null ? null : ProcessUser.of(userName);
  }

  /** Changes the process, except its user. Comes before the first file is made. */
  void apply() {
    if (niceness != null) {
      OwnProcess.nice(niceness);
    }
    if (umask != null) {
      OwnProcess.umask(Integer.parseInt(umask, 8));
    }
  }

  /** The user that the process is to become; null: it stays what it is. After {@link #check}. */
  ProcessUser user() {
    return user;
  }

  /**
   * Makes the store's directory for the user, and the process the user's.
   *
   * @throws UserError when it can't, or the user may not read the program; then the process ends
   */
  void becomeUser(Path data) {
    try {
      StoreOwner.makeFor(user, data);
    } catch (IOException e) {
      throw new UserError("can't make " + data + ": " + FileErrors.inWords(e), 1, e);
    }
    List<Path> program = program();
    user.become();
    program.forEach(this::requireReadable);
  }

  /** The files from which classes are loaded as they are needed. */
  private static List<Path> program() {
    return Stream.concat(
            Stream.of(System.getProperty("java.class.path").split(File.pathSeparator)),
            Stream.of(System.getProperty("java.home") + "/lib/modules"))
        .map(Path::of)
        .filter(Files::exists)
        .toList();
  }

  private void requireReadable(Path file) {
    if (!Files.isReadable(file)) {
      throw new UserError(
          "the user "
              + user.name()
              + " may not read "
              + file
              + ", which is a part of this program: install it where all users may read");
    }
  }
}
