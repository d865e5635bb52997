package io.erda.server;

import io.erda.pmem.OpenDirectory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Protocol;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.Map;

/**
 * Sets the permissions of a store's directories, which decide who may use the store: only the
 * owner, or the group, or all users. A user who may read a directory can lock it and its files, and
 * so keep its server from starting. So by default only the owner may use the store.
 *
 * <p>A directory that others may use has the set-group-ID bit: new files belong to the group, and
 * the store's files can be read and written by every user who may enter their directory ({@link
 * io.erda.pmem.MappedDirectory}). Other users may make files only in {@code shm/}. Its sticky bit
 * lets each user remove only his own files, so that the socket, the registry and the files of other
 * clients stay. The owner may remove any file, because his server removes the files of departed
 * clients.
 *
 * <p>When others may only read, the directory also has the sticky bit, which marks that its files
 * are read-only for others, and {@code shm/} is closed to others. A reader opens files by name and
 * never lists the directory. So readers may enter the directory but not read it, and can't lock it.
 */
final class StoreAccess {
  /**
   * Stands for no chosen mode: the store keeps the mode that was set before, or a new store is only
   * for its owner.
   */
  static final int UNSAID = 0;

  static final int OWNER = 0700;
  private static final int GROUP = 0770;
  private static final int EVERYBODY = 0777;
  private static final int GROUP_READS = 0750;
  private static final int EVERYBODY_READS = 0755;

  private static final int STICKY = 01000;
  private static final int SET_GROUP_ID = 02000;
  private static final int OTHERS_WRITE = 0022;
  private static final int OTHERS_READ = 0044;
  private static final int PERMISSIONS = 07777;

  /** The name of a directory within itself. */
  private static final String ITSELF = ".";

  private StoreAccess() {}

  /**
   * Requires one of the five modes.
   *
   * @throws IllegalArgumentException for any other mode, which would let users use only a part of
   *     the store
   */
  static void requireMode(int mode) {
    if (mode != OWNER && mode != GROUP && mode != EVERYBODY && !onlyRead(mode)) {
      throw new IllegalArgumentException(
          "mode "
              + Integer.toOctalString(mode)
              + ": a client reads and writes the files of the store, so it is 700 (the owner), 770"
              + " (the group) or 777 (everybody); or it only reads them: 750 (the group), 755"
              + " (everybody)");
    }
  }

  /** Whether users other than the owner may only read. */
  private static boolean onlyRead(int mode) {
    return mode == GROUP_READS || mode == EVERYBODY_READS;
  }

  /** The permissions of the store's directory. */
  private static int ofDirectory(int mode) {
    if (onlyRead(mode)) {
      return STICKY | SET_GROUP_ID | mode & ~OTHERS_READ;
    }
    return mode == OWNER ? OWNER : SET_GROUP_ID | mode & ~OTHERS_WRITE;
  }

  /**
   * The permissions of the directory in which clients make files: no client may remove the file of
   * another one.
   */
  private static int ofShm(int mode) {
    return mode == OWNER || onlyRead(mode) ? OWNER : STICKY | SET_GROUP_ID | mode;
  }

  /** Makes a store's directory, only for its owner until {@link #set}, if it does not exist. */
  static void createDirectory(Path data) throws IOException {
    if (Files.isDirectory(data)) {
      return;
    }
    Path parent = data.toAbsolutePath().getParent();
    if (parent != null) {
      Files.createDirectories(parent);
    }
    try {
      Files.createDirectory(
          data, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(data)) {
        throw e;
      }
    }
  }

  /**
   * Sets who may use the store. The caller holds its lock, and no client is served yet.
   *
   * @throws ErdaException.Unusable when this user may not set the mode or group
   */
  static void set(OpenDirectory data, ServerOptions options) throws IOException {
    GroupPrincipal group = group(options);
    boolean asked = options.mode() != UNSAID || group != null;
    try {
      int mode = mode(data, options.mode());
      if (asked && !data.exists(Protocol.SHM_DIRECTORY)) {
        data.makeDirectory(Protocol.SHM_DIRECTORY, OWNER);
      }
      if (data.isDirectory(Protocol.SHM_DIRECTORY)) {
        set(data, Protocol.SHM_DIRECTORY, ofShm(mode), group);
      }
      set(data, ITSELF, ofDirectory(mode), group);
    } catch (FileSystemException e) {
      if (asked) {
        throw new ErdaException.Unusable(
            "who may use "
                + data
                + " can be set by its owner alone, to a group of his: "
                + OpenedStore.reason(e),
            e);
      }
      // Only the owner can change the mode. The owner has set it, and this user may use the store.
    }
  }

  /**
   * Returns the mode to set. An application that opens a shared store for itself must not close it
   * to other users, so the mode of the last server stays until another mode is chosen. A mode that
   * is none of the five was not set by a server.
   */
  private static int mode(OpenDirectory data, int wanted) throws IOException {
    if (wanted != UNSAID) {
      return wanted;
    }
    int is = permissions(data.at(ITSELF));
    for (int shared : new int[] {GROUP, EVERYBODY, GROUP_READS, EVERYBODY_READS}) {
      if (is == ofDirectory(shared)) {
        return shared;
      }
    }
    return OWNER;
  }

  private static GroupPrincipal group(ServerOptions options) throws IOException {
    if (options.group() == null) {
      return null;
    }
    try {
      return FileSystems.getDefault()
          .getUserPrincipalLookupService()
          .lookupPrincipalByGroupName(options.group());
    } catch (UserPrincipalNotFoundException e) {
      throw new ErdaException.BadArgument("there is no group " + options.group());
    }
  }

  private static void set(OpenDirectory data, String name, int mode, GroupPrincipal group)
      throws IOException {
    Path file = data.at(name);
    try {
      if (group != null) {
        Files.getFileAttributeView(file, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
            .setGroup(group);
      }
      if (permissions(file) != mode) {
        Files.setAttribute(file, "unix:mode", mode);
      }
    } catch (FileSystemException e) {
      throw named(e, name.equals(ITSELF) ? data.path() : data.file(name));
    }
  }

  /** Returns the same error with the path of the file that users know. */
  private static FileSystemException named(FileSystemException e, Path file) {
    FileSystemException named =
        e instanceof AccessDeniedException
            ? new AccessDeniedException(file.toString(), null, e.getReason())
            : new FileSystemException(file.toString(), null, e.getReason());
    named.initCause(e);
    return named;
  }

  private static int permissions(Path file) throws IOException {
    Map<String, Object> is = Files.readAttributes(file, "unix:mode", LinkOption.NOFOLLOW_LINKS);
    return (Integer) is.get("mode") & PERMISSIONS;
  }
}
