package io.erda.launcher.posix;

import io.erda.console.UserError;
import java.util.function.Supplier;
import jnr.ffi.LibraryLoader;
import jnr.posix.Group;
import jnr.posix.POSIX;
import jnr.posix.POSIXFactory;
import jnr.posix.Passwd;

/**
 * The user that a process of the superuser becomes. Any thread.
 *
 * @param uid its number
 * @param gid the number of the group that its files get
 */
public record ProcessUser(String name, int uid, int gid, String home) {
  private static final int WRONG_USAGE = 2;
  private static final String OPTION = "--user";

  /** {@code prctl}: other processes of the same user may look at this one, as at any other. */
  private static final int PR_SET_DUMPABLE = 4;

  /** What jnr-posix does not have. */
  public interface CLibrary {
    /** Sets the groups of the process to those of a user, and one more. */
    int initgroups(String user, int group);

    /** Changes a setting of the process. */
    int prctl(int option, long argument);
  }

  /**
   * The user that is meant.
   *
   * @param text {@code NAME} or {@code NAME:GROUP}
   * @throws UserError when this process is not the superuser's, or there is no such user or group
   */
  public static ProcessUser of(String text) {
    int colon = text.indexOf(':');
    String name = colon < 0 ? text : text.substring(0, colon);
    String groupName = colon < 0 ? null : text.substring(colon + 1);
    if (name.isEmpty() || groupName != null && groupName.isEmpty()) {
      throw new UserError("--user is NAME or NAME:GROUP: '" + text + "'", WRONG_USAGE);
    }
    POSIX posix = Library.require(OPTION);
    if (posix.geteuid() != 0) {
      throw new UserError(
          "--user goes with the superuser, and this process is of the user "
              + OwnProcess.userName()
              + ": leave it out, or use sudo",
          WRONG_USAGE);
    }
    Passwd user = known(() -> posix.getpwnam(name));
    if (user == null) {
      throw new UserError("--user: no user has the name '" + name + "'", WRONG_USAGE);
    }
    long gid = user.getGID();
    if (groupName != null) {
      Group group = known(() -> posix.getgrnam(groupName));
      if (group == null) {
        throw new UserError("--user: no group has the name '" + groupName + "'", WRONG_USAGE);
      }
      gid = group.getGID();
    }
    return new ProcessUser(name, (int) user.getUID(), (int) gid, user.getHome());
  }

  /** What a look-up found; null when it found nothing, which the library may say by throwing. */
  private static <T> T known(Supplier<T> lookUp) {
    try {
      return lookUp.get();
    } catch (RuntimeException e) {
      return null;
    }
  }

  /**
   * Makes the process this user's, with the user's groups and no right of the superuser's, for
   * good. What is open stays open. It counts for all threads: glibc sees to that.
   *
   * @throws UserError when the kernel refuses; then the process must end
   */
  public void become() {
    POSIX posix = Library.require(OPTION);
    CLibrary library =
        LibraryLoader.create(CLibrary.class).load(POSIXFactory.STANDARD_C_LIBRARY_NAME);
    String what = "can't become the user " + name;
    Library.check(posix, what, "initgroups", library.initgroups(name, gid));
    Library.check(posix, what, "setgid", posix.setgid(gid));
    Library.check(posix, what, "setuid", posix.setuid(uid));
    if (uid != 0 && posix.setuid(0) == 0) {
      throw new UserError(what + ": the process could become the superuser's again");
    }
    // Otherwise what is in /proc of this process would be the superuser's, and jcmd could not reach
    // it.
    Library.check(posix, what, "prctl", library.prctl(PR_SET_DUMPABLE, 1));
    System.setProperty("user.name", name);
    System.setProperty("user.home", home);
  }
}
