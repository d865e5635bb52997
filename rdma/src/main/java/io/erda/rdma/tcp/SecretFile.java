package io.erda.rdma.tcp;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;

/** Checks files that hold a secret, or the private key of a certificate. */
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
   * Checks that only its owner may use a file.
   *
   * @throws IOException when others may use it, or when that can't be determined
   */
  static void requireOwnersAlone(Path file) throws IOException {
    require(file, false);
  }

  /**
   * As {@link #requireOwnersAlone}, but a group may read a file of the superuser, because machines
   * share the keys of their certificates among services in this way.
   */
  static void requireOwnersOrGroups(Path file) throws IOException {
    require(file, true);
  }

  /**
   * Checks that a file can be read to its end: a read of a pipe would wait for its writer, and one
   * of a device may never end.
   */
  static void requireRegular(Path file) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new IOException(file + " is no regular file");
    }
  }

  private static void require(Path file, boolean orGroups) throws IOException {
    requireRegular(file);
    boolean groupReads = orGroups && (int) Files.getAttribute(file, "unix:uid") == SUPERUSER;
    for (PosixFilePermission each : Files.getPosixFilePermissions(file)) {
      if (OF_OTHERS.contains(each) && !(groupReads && each == PosixFilePermission.GROUP_READ)) {
        throw new IOException(file + " may be used by others than its owner: chmod 600 " + file);
      }
    }
  }
}
