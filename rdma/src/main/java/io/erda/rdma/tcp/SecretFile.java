package io.erda.rdma.tcp;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;

/** Files that hold a secret: one that both ends know, or the private key of a certificate. */
final class SecretFile {
  private static final Set<PosixFilePermission> OF_OTHERS =
      Set.of(
          PosixFilePermission.GROUP_READ,
          PosixFilePermission.GROUP_WRITE,
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE);

  private static final int SUPERUSER = 0;

  private SecretFile() {}

  /**
   * Checks that nobody but its owner may use a file.
   *
   * @throws IOException when others may, or when that can't be told
   */
  static void requireOwnersAlone(Path file) throws IOException {
    require(file, false);
  }

  /**
   * The same, but for a file of the superuser's that a group may read: so machines keep the keys of
   * their certificates for several services.
   */
  static void requireOwnersOrGroups(Path file) throws IOException {
    require(file, true);
  }

  private static void require(Path file, boolean orGroups) throws IOException {
    boolean groupReads = orGroups && (int) Files.getAttribute(file, "unix:uid") == SUPERUSER;
    for (PosixFilePermission each : Files.getPosixFilePermissions(file)) {
      if (OF_OTHERS.contains(each) && !(groupReads && each == PosixFilePermission.GROUP_READ)) {
        throw new IOException(file + " may be used by others than its owner: chmod 600 " + file);
      }
    }
  }
}
