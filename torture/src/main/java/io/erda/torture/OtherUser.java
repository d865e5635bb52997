package io.erda.torture;

import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ProcessException;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A user other than the server's, for client processes; only root can start these.
 *
 * @param name of the user; empty when there is none
 * @param group the user's only one
 * @param leftOut why there is no such user; empty when there is one
 */
record OtherUser(String name, String group, String leftOut) {
  private static final String NAME = "nobody";
  private static final Duration TOO_LONG = Duration.ofSeconds(30);

  /** A script that reads each file that it is given, and reports the first that it can't read. */
  private static final String READ_ALL =
      "for f; do test -r \"$f\" || { echo \"can't read $f\"; exit 1; }; done; echo all";

  /**
   * Checks whether there is such a user, and whether it can use this build.
   *
   * @param directory of the stores
   */
  static OtherUser find(Children children, Jvm jvm, Path directory) {
    try {
      if (!"0".equals(run(children, List.of("id", "-u")))) {
        return none("only root can start processes of another user");
      }
      String group = run(children, List.of("id", "-gn", NAME));
      OtherUser user = new OtherUser(NAME, group, "");
      List<String> look = new ArrayList<>(List.of("sh", "-c", READ_ALL, "sh"));
      look.add(jvm.java().toString());
      look.addAll(List.of(jvm.classPath().split(File.pathSeparator)));
      look.add(directory.toString());
      String answer = run(children, user.command(look));
      return answer.equals("all") ? user : none("the user " + NAME + " " + answer);
    } catch (ProcessException e) {
      return none(e.getMessage());
    }
  }

  private static OtherUser none(String why) {
    return new OtherUser("", "", why);
  }

  private static String run(Children children, List<String> command) {
    Child child = children.start(command.getFirst(), command);
    String answer = child.await("", TOO_LONG);
    child.awaitEnd(TOO_LONG);
    children.forget(child);
    return answer;
  }

  boolean exists() {
    return leftOut.isEmpty();
  }

  /** The command, run as this user. */
  List<String> command(List<String> command) {
    List<String> all =
        new ArrayList<>(
            List.of("setpriv", "--reuid", name, "--regid", group, "--clear-groups", "--"));
    all.addAll(command);
    return all;
  }

  /**
   * The server's options for creating a store that this user may use.
   *
   * @param everybody whether all users may, else a group
   */
  List<String> serverOptions(boolean everybody) {
    if (!exists()) {
      return List.of();
    }
    return everybody ? List.of("--mode", "777") : List.of("--mode", "770", "--group", group);
  }

  /** Makes a directory inside another one, in which this user may make files. */
  Path directory(Path parent) {
    try {
      Path directory = Files.createDirectory(parent.resolve("of-" + name));
      UserPrincipalLookupService users = parent.getFileSystem().getUserPrincipalLookupService();
      Files.getFileAttributeView(directory, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
          .setOwner(users.lookupPrincipalByName(name));
      Files.setPosixFilePermissions(parent, PosixFilePermissions.fromString("rwx--x--x"));
      return directory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
