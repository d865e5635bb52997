package io.erda.launcher.commands;

import io.erda.console.UserError;
import io.erda.launcher.posix.ProcessUser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Checks the owner of a store. If the superuser served another user's store the new files would be
 * the superuser's, and the owner could not open the store any more.
 */
final class StoreOwner {
  private static final int SUPERUSER = 0;

  /**
   * Refuses to let the superuser serve another user's store, or make one in another user's
   * directory; and to serve a store as a user who does not own it.
   *
   * @param user the user that the process will become; null: its user stays the same
   */
  static void require(Path data, ProcessUser user) {
    try {
      int server = user == null ? userOf(Path.of("/proc/self")) : user.uid();
      Path superblock = data.resolve("superblock");
      Path owned = Files.exists(superblock) ? superblock : data;
      if (user == null && server != SUPERUSER || !Files.exists(owned) || userOf(owned) == server) {
        return;
      }
      String owner = Files.getOwner(owned).getName();
      throw new UserError(
          user == null
              ? "%s belongs to the user %s, who could not open what the superuser makes there: sudo -u"
                      .formatted(data, owner)
                  + " %s ./erda server --data %s …, or --user %s".formatted(owner, data, owner)
              : "%s belongs to the user %s, and is to be served by the user %s: chown -R %s: %s"
                  .formatted(data, owner, user.name(), user.name(), data));
    } catch (IOException e) {
      throw new UserError("can't look at " + data + ": " + e.getMessage(), 1, e);
    }
  }

  /** Makes a store's directory for a user, if it is not there. The superuser alone may. */
  static void makeFor(ProcessUser user, Path data) throws IOException {
    if (Files.exists(data)) {
      return;
    }
    Path parent = data.toAbsolutePath().getParent();
    if (parent != null) {
      Files.createDirectories(parent);
    }
    Files.createDirectory(
        data, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.setAttribute(data, "unix:gid", user.gid(), LinkOption.NOFOLLOW_LINKS);
    Files.setAttribute(data, "unix:uid", user.uid(), LinkOption.NOFOLLOW_LINKS);
  }

  private static int userOf(Path file) throws IOException {
    return (Integer) Files.getAttribute(file, "unix:uid");
  }

  private StoreOwner() {}
}
