package io.erda.rdma.shm;

import io.erda.pmem.FailedFileSystemException;
import io.erda.pmem.FileErrors;
import io.erda.pmem.Listing;
import io.erda.pmem.OpenDirectory;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.UntrustedFileException;
import io.erda.pmem.libc.Errno;
import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The directory in which a device serves or to which it connects, and its parent, which has the
 * files of the regions. Each of the two is opened once. Files in them are named relative to the
 * open directory, by one plain name, and symbolic links are never followed. So another process that
 * writes in the directory, or moves it, can't make this process use a file outside of these two
 * directories.
 *
 * <p>Owns two descriptors. One thread.
 */
public final class ShmDirectory implements AutoCloseable {
  /** The mode of a new directory: only its owner may use it. */
  static final int PRIVATE = 0700;

  private static final int READ_WRITE = 0666;
  private static final int ASIDE_MAX = 1000;

  /**
   * The attributes that are read. Names of users and groups are not read, because their look-up
   * takes long.
   */
  private static final String ASKED = "unix:isRegularFile,ino,size,nlink,mode,uid,gid";

  /**
   * Describes a file: {@code mode} has its permissions, and {@code links} is the number of its
   * names.
   */
  record Attributes(
      boolean regular, long inode, long bytes, int links, int mode, int userId, int groupId) {}

  private final Path path;
  private final int around;

  /** The descriptor of the directory; −1 after it was closed. */
  private int descriptor;

  private boolean closed;

  private ShmDirectory(Path path, int descriptor, int around) {
    this.path = path;
    this.descriptor = descriptor;
    this.around = around;
  }

  /**
   * Opens a directory to connect to the server in it.
   *
   * @throws NotDirectoryException also for a symbolic link
   */
  public static ShmDirectory open(Path path) throws IOException {
    return open(path, openAround(path), Libc.O_PATH);
  }

  /**
   * Opens a directory to serve in it. If it does not exist, makes it with permissions only for its
   * owner.
   *
   * @param open the open parent directory; null: the parent is found by the path, and made if
   *     necessary
   */
  static ShmDirectory openToServe(Path path, OpenDirectory open) throws IOException {
    int around;
    if (open == null) {
      Files.createDirectories(parent(path));
      around = openAround(path);
    } else {
      around = opened(open.descriptor(), ".", Libc.O_PATH | Libc.O_DIRECTORY, 0, open.path());
    }
    try {
      String name = path.getFileName().toString();
      if (!Files.exists(reopened(around).resolve(name), LinkOption.NOFOLLOW_LINKS)) {
        FileErrors.check("mkdir", Libc.makeDirectory(around, name, PRIVATE), path);
      }
    } catch (FileAlreadyExistsException e) {
      // Another server has made the directory at the same time. The lock decides which of the two
      // serves.
    } catch (IOException e) {
      Libc.close(around);
      throw e;
    }
    // Locking needs a descriptor that is open for reading.
    return open(path, around, Libc.O_RDONLY);
  }

  private static Path parent(Path path) throws NotDirectoryException {
    Path parent = path.toAbsolutePath().getParent();
    if (parent == null) {
      throw new NotDirectoryException(path + ": the root of all files is no place for a device");
    }
    return parent;
  }

  private static int openAround(Path path) throws IOException {
    Path parent = parent(path);
    return opened(Libc.AT_FDCWD, parent.toString(), Libc.O_PATH | Libc.O_DIRECTORY, 0, parent);
  }

  /**
   * @param around a descriptor of the parent directory, which belongs to this object from here on,
   *     also after an error
   */
  private static ShmDirectory open(Path path, int around, int flags) throws IOException {
    try {
      int descriptor =
          opened(
              around,
              path.getFileName().toString(),
              flags | Libc.O_DIRECTORY | Libc.O_NOFOLLOW,
              0,
              path);
      return new ShmDirectory(path, descriptor, around);
    } catch (NotDirectoryException e) {
      Libc.close(around);
      throw new NotDirectoryException(
          path + " is not a directory (a symbolic link is not followed here)");
    } catch (IOException e) {
      Libc.close(around);
      throw e;
    }
  }

  Path path() {
    return path;
  }

  /** Returns the path of a file in the directory, for messages. */
  Path file(String name) {
    return path.resolve(name);
  }

  /**
   * Returns a short path by which the JDK finds a name in the open directory, even if the directory
   * was moved.
   */
  Path at(String name) {
    return reopened(descriptor).resolve(name);
  }

  /** Returns a path by which the JDK finds exactly the file that a descriptor has open. */
  static Path reopened(int fd) {
    return Path.of("/proc/self/fd/" + fd);
  }

  /**
   * Opens a file, and returns its descriptor, which is closed on exec.
   *
   * @param directory an open directory for relative names
   * @param mode the mode of a file that is created, less the umask
   * @param file the path for messages
   */
  private static int opened(int directory, String name, int flags, int mode, Path file)
      throws IOException {
    return FileErrors.check("open", Libc.open(directory, name, flags, mode), file);
  }

  /**
   * Takes the exclusive lock of an open file. Returns false when another opening has it. The lock
   * belongs to the opening, so two owners in one JVM exclude each other as two processes do.
   * Closing the descriptor releases the lock, and so does the end of the process.
   */
  static boolean tryLock(int fd) throws IOException {
    return isTaken(Libc.flock(fd), fd);
  }

  /** Whether another opening has the exclusive lock of an open file. */
  static boolean isLocked(int fd) throws IOException {
    if (!isTaken(Libc.flockShared(fd), fd)) {
      return true;
    }
    Libc.unlock(fd);
    return false;
  }

  private static boolean isTaken(int result, int fd) throws IOException {
    if (Errno.EAGAIN.is(result)) {
      return false;
    }
    FileErrors.check("flock", result, Path.of("descriptor " + fd));
    return true;
  }

  /**
   * Allocates space for the first bytes of an open file, so that no store to a mapping of them
   * fails for lack of space. Makes the file longer if it is shorter.
   *
   * @return false when the file system can't allocate without writing; then nothing was done
   * @throws OutOfSpaceException when there is no space, or the process's file-size limit forbids it
   */
  static boolean allocate(int fd, Path file, long bytes) throws IOException {
    int result;
    do {
      result = Libc.fallocate(fd, 0, bytes);
    } while (Errno.EINTR.is(result));
    return switch (Errno.ofResult(result)) {
      case ENOSPC, EDQUOT ->
          throw new OutOfSpaceException(file + ": no space left for " + bytes + " bytes", null);
      case EFBIG ->
          throw new OutOfSpaceException(
              "%s: the file-size limit of this process (ulimit -f) is below %d bytes"
                  .formatted(file, bytes),
              null);
      default -> result == 0;
    };
  }

  /** Locks the directory for a server. Returns false when another server has the lock. */
  boolean tryLock() throws IOException {
    return tryLock(descriptor);
  }

  /** Whether another process serves in the directory, or holds it, so that its lock is taken. */
  boolean isLocked() {
    int opened = -1;
    try {
      opened = opened(descriptor, ".", Libc.O_RDONLY | Libc.O_DIRECTORY, 0, path);
      return isLocked(opened);
    } catch (IOException e) {
      // This user may not check the lock. The attempt to connect will report the reason.
      return false;
    } finally {
      if (opened >= 0) {
        Libc.close(opened);
      }
    }
  }

  boolean exists(String name) {
    return Files.exists(at(name), LinkOption.NOFOLLOW_LINKS);
  }

  /** When a file was changed last, in milliseconds of the wall clock. */
  long changedMillis(String name) throws IOException {
    return Files.getLastModifiedTime(at(name), LinkOption.NOFOLLOW_LINKS).toMillis();
  }

  /** Returns the names that begin with {@code prefix}, of files of any kind. */
  List<String> names(String prefix) throws IOException {
    return Listing.names(reopened(descriptor), file("")).stream()
        .filter(name -> name.startsWith(prefix))
        .toList();
  }

  /**
   * Opens a plain file in this directory, and returns its descriptor.
   *
   * @throws UntrustedFileException when it is no plain file
   */
  public int open(String name, boolean toWrite) throws IOException {
    return openPlain(descriptor, name, toWrite, file(name));
  }

  /**
   * Opens a plain file in the parent directory, and returns its descriptor.
   *
   * @param name the name as a peer has sent it
   * @throws UntrustedFileException when it is no plain file, or the name leads out of the directory
   */
  int openRegion(String name, boolean toWrite) throws IOException {
    Path parent = path.toAbsolutePath().getParent();
    if (!isPlainName(name)) {
      throw new UntrustedFileException(parent.toString(), "a region's file of the name " + name);
    }
    return openPlain(around, name, toWrite, parent.resolve(name));
  }

  /** Returns the inode number of a region's file in the parent directory. */
  long inodeAround(String name) throws IOException {
    return attributes(reopened(around).resolve(name), LinkOption.NOFOLLOW_LINKS).inode;
  }

  /**
   * Whether the path of a region's file still leads to the file. The open directory may have been
   * moved, and another directory may have its path.
   */
  boolean hasAround(String name, long inode) {
    try {
      Path file = path.toAbsolutePath().getParent().resolve(name);
      return isPlainName(name) && attributes(file, LinkOption.NOFOLLOW_LINKS).inode == inode;
    } catch (IOException e) {
      // A file system that failed can't answer that, but its files can't be replaced any more.
      return FailedFileSystemException.isReasonOf(e);
    }
  }

  /** Whether a name can lead only to a file in the directory in which it is looked up. */
  static boolean isPlainName(String name) {
    return !name.isEmpty()
        && !name.equals(".")
        && !name.equals("..")
        && name.indexOf('/') < 0
        && name.indexOf('\0') < 0;
  }

  private static int openPlain(int directory, String name, boolean toWrite, Path file)
      throws IOException {
    // O_NONBLOCK: opening a pipe must not wait for its other end.
    int flags = (toWrite ? Libc.O_RDWR : Libc.O_RDONLY) | Libc.O_NOFOLLOW | Libc.O_NONBLOCK;
    int fd = opened(directory, name, flags, 0, file);
    boolean plain = false;
    try {
      plain = attributes(fd).regular;
    } finally {
      if (!plain) {
        Libc.close(fd);
      }
    }
    if (!plain) {
      throw new UntrustedFileException(file.toString(), "is no plain file");
    }
    return fd;
  }

  /**
   * Creates an empty file for all users that may use this directory, and returns its descriptor.
   *
   * @throws FileAlreadyExistsException when a file of any kind has the name
   */
  int create(String name) throws IOException {
    int flags = Libc.O_RDWR | Libc.O_CREAT | Libc.O_EXCL | Libc.O_NOFOLLOW;
    int fd = opened(descriptor, name, flags, 0600, file(name));
    boolean done = false;
    try {
      share(fd);
      done = true;
      return fd;
    } finally {
      if (!done) {
        Libc.close(fd);
        delete(name);
      }
    }
  }

  /**
   * Permits all users that may use this directory to use a file in it, whatever the umask is. The
   * superuser gives the file to the directory's owner, because the owner's server could not open it
   * otherwise.
   */
  void share(int fd) throws IOException {
    Attributes directory = attributes();
    Attributes file = attributes(fd);
    boolean superuser = Libc.effectiveUser() == 0 && directory.userId != file.userId;
    if (superuser || directory.groupId != file.groupId) {
      // For a user outside of the group this fails. Then other users can't open the file, and
      // report that.
      Libc.fchown(fd, superuser ? directory.userId : -1, directory.groupId);
    }
    Libc.fchmod(fd, directory.mode & READ_WRITE);
  }

  /**
   * Returns a descriptor that leads to a socket and can't be used for other accesses. If the name
   * is that of a symbolic link, the descriptor leads to the link.
   */
  int openSocket(String name) throws IOException {
    return opened(descriptor, name, Libc.O_PATH | Libc.O_NOFOLLOW, 0, file(name));
  }

  /** Sets the same permissions for a socket that was just bound. */
  void shareSocket(String name) throws IOException {
    int fd = openSocket(name);
    try {
      Files.setPosixFilePermissions(reopened(fd), permissions(attributes().mode & READ_WRITE));
    } finally {
      Libc.close(fd);
    }
  }

  private static Set<PosixFilePermission> permissions(int mode) {
    Set<PosixFilePermission> all = EnumSet.noneOf(PosixFilePermission.class);
    PosixFilePermission[] falling = PosixFilePermission.values();
    for (int i = 0; i < falling.length; i++) {
      if ((mode & 0400 >>> i) != 0) {
        all.add(falling[i]);
      }
    }
    return all;
  }

  /** The owner of an open file. */
  static UserPrincipal owner(int fd) throws IOException {
    return Files.getOwner(reopened(fd));
  }

  static Attributes attributes(int fd) throws IOException {
    return attributes(reopened(fd));
  }

  Attributes attributes() throws IOException {
    return attributes(descriptor);
  }

  /** Whether the name of this directory in the parent directory still leads to this directory. */
  boolean isFound() throws IOException {
    try {
      Path named = reopened(around).resolve(path.getFileName());
      return attributes(named, LinkOption.NOFOLLOW_LINKS).inode == attributes().inode;
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /** Describes the parent directory. */
  Attributes attributesAround() throws IOException {
    return attributes(around);
  }

  private static Attributes attributes(Path file, LinkOption... options) throws IOException {
    Map<String, Object> all = Files.readAttributes(file, ASKED, options);
    return new Attributes(
        (Boolean) all.get("isRegularFile"),
        ((Number) all.get("ino")).longValue(),
        ((Number) all.get("size")).longValue(),
        ((Number) all.get("nlink")).intValue(),
        ((Number) all.get("mode")).intValue() & 0777,
        ((Number) all.get("uid")).intValue(),
        ((Number) all.get("gid")).intValue());
  }

  /**
   * Describes the file that has a name in this directory, without opening it; null when no file has
   * the name.
   */
  Attributes attributes(String name) throws IOException {
    try {
      return attributes(at(name), LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  /** Whether a name still leads to an open file. */
  boolean isNameOf(String name, int fd) throws IOException {
    try {
      return Files.isSameFile(at(name), reopened(fd)) && !Files.isSymbolicLink(at(name));
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /** Opens, once more, the file that a descriptor has open. */
  static FileChannel channel(int fd, boolean toWrite) throws IOException {
    return FileChannel.open(
        reopened(fd),
        toWrite
            ? new OpenOption[] {StandardOpenOption.READ, StandardOpenOption.WRITE}
            : new OpenOption[] {StandardOpenOption.READ});
  }

  /** Removes the name of a file, if it exists. */
  void delete(String name) throws IOException {
    try {
      FileErrors.check("unlink", Libc.unlink(descriptor, name, 0), file(name));
    } catch (NoSuchFileException e) {
      // The name does not exist, as wanted.
    }
  }

  /** Renames a file. A file that had the new name is replaced. */
  void rename(String from, String to) throws IOException {
    FileErrors.check("rename", Libc.rename(descriptor, from, to), file(from));
  }

  /**
   * Frees a name: a file or an empty directory is removed, and a directory that is not empty gets
   * another name.
   */
  void clear(String name) throws IOException {
    if (!Files.isDirectory(at(name), LinkOption.NOFOLLOW_LINKS)) {
      delete(name);
      return;
    }
    try {
      FileErrors.check("rmdir", Libc.unlink(descriptor, name, Libc.AT_REMOVEDIR), file(name));
    } catch (DirectoryNotEmptyException e) {
      setAside(name);
    }
  }

  private void setAside(String name) throws IOException {
    for (int number = 0; number < ASIDE_MAX; number++) {
      String aside = "aside-" + number + "-" + name;
      if (!exists(aside)) {
        rename(name, aside);
        return;
      }
    }
    throw new IOException(file(name) + " is a directory, and " + ASIDE_MAX + " were set aside");
  }

  @Override
  public void close() {
    if (descriptor >= 0) {
      Libc.unlock(descriptor);
      Libc.close(descriptor);
      descriptor = -1;
    }
    if (!closed) {
      Libc.close(around);
      closed = true;
    }
  }
}
