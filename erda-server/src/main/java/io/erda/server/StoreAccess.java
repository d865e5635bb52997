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
 * Sets who may use a store: the owner of its directory alone, or its group, or everybody. Whoever
 * may read a directory can lock it and what is in it, and so keep its server from starting; so
 * nobody may by default.
 *
 * <p>A directory that others may use has the set-group-ID bit: what is made in it is the group's,
 * and the store's files can then be read and written by whoever may enter their directory ({@link
 * io.erda.pmem.MappedDirectory}). Only in {@code shm/} may others make files, and its sticky bit
 * lets each remove his own alone: the socket, the registry and the files of other clients stay. The
 * owner, whose server removes what departed clients left, removes any.
 *
 * <p>Where others may only read, the directory has the sticky bit beside it, which says so for the
 * files; nobody else gets into {@code shm/}. A reader opens files by their names and never lists
 * the directory, so he may pass it and not read it: then he can't lock it either.
 */
final class StoreAccess {
  /** Nobody has said who: as it was set before, or the owner alone. */
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

  /** The name of a directory in itself. */
  private static final String ITSELF = ".";

  private StoreAccess() {}

  /**
   * @throws IllegalArgumentException when somebody could use a part of the store only
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

  /** Whether others than the owner may read and not write. */
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

  /** Makes a store's directory, for its owner alone until {@link #set}, where there is none. */
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
   * Sets who may use the store. The caller holds its lock, and nobody is served yet.
   *
   * @throws ErdaException.Unusable when this user may not set what was asked for
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
      // The owner has said who may use it, and this user may.
    }
  }

  /**
   * An application that opens a shared store for itself must not take it from the others: what a
   * server was told once holds until somebody says otherwise. Other modes nobody has said to us.
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

  /** The same error of the same file, by the name that everybody knows the file by. */
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
