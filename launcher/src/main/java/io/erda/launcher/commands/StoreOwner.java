package io.erda.launcher.commands;

import io.erda.console.UserError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Checks the owner of a store. If the superuser served another user's store the new files would be
 * the superuser's, and the owner could not open the store any more.
 */
final class StoreOwner {
  private static final int SUPERUSER = 0;

  /**
   * Refuses to let the superuser serve another user's store, or make one in another user's
   * directory.
   */
  static void require(Path data) {
    try {
      if (userOf(Path.of("/proc/self")) != SUPERUSER) {
        return;
      }
      Path superblock = data.resolve("superblock");
      Path owned = Files.exists(superblock) ? superblock : data;
      if (Files.exists(owned) && userOf(owned) != SUPERUSER) {
        String owner = Files.getOwner(owned).getName();
        throw new UserError(
            "%s belongs to the user %s, who could not open what the superuser makes there: sudo -u"
                    .formatted(data, owner)
                + " %s ./erda server --data %s …".formatted(owner, data));
      }
    } catch (IOException e) {
      throw new UserError("can't look at " + data + ": " + e.getMessage(), 1, e);
    }
  }

  private static int userOf(Path file) throws IOException {
    return (Integer) Files.getAttribute(file, "unix:uid");
  }

  private StoreOwner() {}
}
