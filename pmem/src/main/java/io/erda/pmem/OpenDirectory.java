package io.erda.pmem;

import io.erda.pmem.libc.Errno;
import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A directory that is opened once. Its files are found relative to the open directory, by one plain
 * name, and symbolic links are not followed. So this process goes on to use the same files when the
 * directory is renamed, another directory gets its path, or a link is changed.
 *
 * <p>Paths serve only messages and {@link #strayed}.
 *
 * <p>Owns a descriptor. Any thread may call any method as long as the directory is open.
 */
public final class OpenDirectory implements AutoCloseable {
  private static final long OVERLAYFS = 0x794c7630L;
  private static final long FUSE = 0x65735546L;

  /** The errors of a call that a file system, or a filter of system calls, does not take. */
  private static final Set<Errno> CALL_REFUSED =
      EnumSet.of(Errno.EPERM, Errno.EACCES, Errno.EINVAL, Errno.ENOSYS, Errno.EINTR);

  private final Path path;
  private final int descriptor;
  private final FileStatus opened;

  /** Why bytes of a file may be lost; null when none are known to be. */
  private volatile String lost;

  private boolean closed;

  private OpenDirectory(Path path, int descriptor, FileStatus opened) {
    this.path = path;
    this.descriptor = descriptor;
    this.opened = opened;
  }

  /**
   * Opens a directory that can be read. Changes nothing in it.
   *
   * @param path the path; symbolic links in it are followed, but only by this call
   * @throws NoSuchFileException when there is none
   * @throws NotDirectoryException when the path is that of something else
   * @throws java.nio.file.AccessDeniedException when it can't be read
   */
  public static OpenDirectory open(Path path) throws IOException {
    return open(path, Libc.O_RDONLY);
  }

  /**
   * Opens a directory without the right to read it. It can then be neither listed, locked nor
   * synchronised.
   */
  public static OpenDirectory openToPass(Path path) throws IOException {
    return open(path, Libc.O_PATH);
  }

  private static OpenDirectory open(Path path, int flags) throws IOException {
    Path absolute = path.toAbsolutePath();
    int descriptor =
        FileErrors.check("open", Libc.open(absolute, flags | Libc.O_DIRECTORY), absolute);
    boolean done = false;
    try {
      FileStatus status = FileStatus.of(descriptor, absolute);
      done = true;
      return new OpenDirectory(absolute, descriptor, status);
    } finally {
      if (!done) {
        Libc.close(descriptor);
      }
    }
  }

  /** Returns the absolute path by which the directory was opened, for messages. */
  public Path path() {
    return path;
  }

  /** Returns the path of a file in the directory, for messages. */
  public Path file(String name) {
    return path.resolve(name);
  }

  /**
   * Returns a path by which the JDK finds a name in the open directory, even when the directory was
   * moved. The name {@code "."} gives the directory itself.
   */
  public Path at(String name) {
    return reopened(descriptor).resolve(name);
  }

  /** Returns a path by which the JDK finds exactly the file that a descriptor has open. */
  private static Path reopened(int descriptor) {
    return Path.of("/proc/self/fd/" + descriptor);
  }

  /** Uses an open file. */
  interface Use<T> {
    T with(FileChannel channel) throws IOException;
  }

  /**
   * Opens, once more, the file that a descriptor has open, for as long as it is used. An error of
   * close(2) is ignored: mappings stay, and nothing is written by the channel.
   */
  static <T> T withChannel(int descriptor, boolean toWrite, Use<T> use) throws IOException {
    FileChannel channel =
        FileChannel.open(
            reopened(descriptor),
            toWrite
                ? new OpenOption[] {StandardOpenOption.READ, StandardOpenOption.WRITE}
                : new OpenOption[] {StandardOpenOption.READ});
    try {
      return use.with(channel);
    } finally {
      try {
        channel.close();
      } catch (IOException e) {
        // The channel was needed only to map the file.
      }
    }
  }

  /**
   * Opens, once more, the file that a descriptor has open, to read it without the page cache.
   * Returns a descriptor, or the negated errno where the file system does not allow that.
   */
  static int openDirect(int descriptor) {
    return Libc.open(reopened(descriptor), Libc.O_RDONLY | Libc.O_DIRECT);
  }

  /** The descriptor, for calls to the C library. This object closes it. */
  public int descriptor() {
    return descriptor;
  }

  /**
   * Opens a plain file, and returns its descriptor.
   *
   * @throws NoSuchFileException when there is no file
   * @throws FileSystemException also when the name leads to no plain file
   */
  int open(String name, boolean toWrite) throws IOException {
    // O_NONBLOCK: opening a pipe must not wait for its other end.
    int flags = (toWrite ? Libc.O_RDWR : Libc.O_RDONLY) | Libc.O_NOFOLLOW | Libc.O_NONBLOCK;
    int file = Libc.open(descriptor, name, flags);
    if (Errno.EISDIR.is(file)) {
      throw notRegular(name);
    }
    FileErrors.check("open", file, file(name));
    boolean regular = false;
    try {
      regular = FileStatus.of(file, file(name)).isRegular();
    } finally {
      if (!regular) {
        Libc.close(file);
      }
    }
    if (!regular) {
      throw notRegular(name);
    }
    return file;
  }

  private NotAMemoryException notRegular(String name) {
    return new NotAMemoryException(file(name), "not a regular file");
  }

  /** Creates an empty file, and returns its descriptor. The name must be free. */
  int create(String name) throws IOException {
    int flags = Libc.O_RDWR | Libc.O_CREAT | Libc.O_EXCL | Libc.O_NOFOLLOW;
    return FileErrors.check("open", Libc.open(descriptor, name, flags), file(name));
  }

  /** Creates a file without a name. Returns its descriptor, or the negated errno. */
  int createNameless() {
    return Libc.open(descriptor, ".", Libc.O_RDWR | Libc.O_TMPFILE);
  }

  /** Gives a nameless file a name, which must be free. Returns 0, or the negated errno. */
  int link(int nameless, String name) {
    return Libc.link(nameless, descriptor, name);
  }

  /** Removes the name of a file, if it exists. */
  void delete(String name) throws IOException {
    int result = Libc.unlink(descriptor, name, 0);
    if (Errno.EISDIR.is(result)) {
      throw new NotAMemoryException(file(name), "is a directory, not a memory");
    }
    if (!Errno.ENOENT.is(result)) {
      FileErrors.check("unlink", result, file(name));
    }
  }

  /** Renames a file; a file that had the new name is replaced. */
  void rename(String from, String to) throws IOException {
    FileStatus status = status(from);
    if (status != null && status.isDirectory()) {
      throw new NotAMemoryException(file(from), "is a directory, not a memory");
    }
    FileErrors.check("rename", Repeated.call(() -> Libc.rename(descriptor, from, to)), file(from));
  }

  /**
   * Makes a directory in this one.
   *
   * @param mode its permissions, less the umask
   * @throws java.nio.file.FileAlreadyExistsException when a file of any kind has the name
   */
  public void makeDirectory(String name, int mode) throws IOException {
    FileErrors.check("mkdir", Libc.makeDirectory(descriptor, name, mode), file(name));
  }

  /**
   * Describes the file of any kind that has a name; a symbolic link is not followed. Returns null
   * when no file has the name.
   */
  FileStatus status(String name) throws IOException {
    try {
      return FileStatus.of(descriptor, name, Libc.AT_SYMLINK_NOFOLLOW, file(name));
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  /** Describes the directory itself. */
  FileStatus status() throws IOException {
    return FileStatus.of(descriptor, path);
  }

  /**
   * Whether a file of any kind has a name, even a symbolic link that leads nowhere.
   *
   * @throws UncheckedIOException when that can't be told
   */
  public boolean exists(String name) {
    try {
      return status(name) != null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Whether a plain file has a name.
   *
   * @throws UncheckedIOException when that can't be told
   */
  boolean isFile(String name) {
    try {
      FileStatus status = status(name);
      return status != null && status.isRegular();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The names of plain files that a {@link MemoryDirectory} may have given them, sorted. */
  List<String> memories() throws IOException {
    try {
      return names().stream()
          .filter(MemoryDirectory::isName)
          .filter(this::isFile)
          .sorted()
          .toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /**
   * Returns the name of a memory of this directory that has another hard link, so that changes
   * under the other name change it too; null when there is none. Costs a system call for each file.
   */
  public String hardLinked() throws IOException {
    Map<FileStatus, List<String>> shared = new HashMap<>();
    for (String name : memories()) {
      FileStatus status = status(name);
      if (status != null && status.links() > 1) {
        shared.computeIfAbsent(status, file -> new ArrayList<>()).add(name);
      }
    }
    for (Map.Entry<FileStatus, List<String>> each : shared.entrySet()) {
      if (each.getKey().links() > each.getValue().size()) {
        return each.getValue().getFirst();
      }
    }
    return null;
  }

  /** Whether a name leads to a directory, and not to a symbolic link. */
  public boolean isDirectory(String name) {
    try {
      FileStatus status = status(name);
      return status != null && status.isDirectory();
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Which file a name leads to, and how long the file is.
   *
   * @param inode its number
   * @param bytes its length
   */
  public record Named(long inode, long bytes) {}

  /** Describes the file that a name leads to; null when no file has the name. */
  public Named named(String name) throws IOException {
    FileStatus status = status(name);
    return status == null ? null : new Named(status.inode(), status.bytes());
  }

  /** All names, of whatever kind, in no order. */
  public List<String> names() throws IOException {
    return Listing.names(at("."), path);
  }

  /**
   * Returns how many bytes of the file system this user can take; {@link Long#MAX_VALUE} if that is
   * unknown.
   */
  public long usableBytes() {
    FileSystemStatus status = fileSystem();
    return status == null ? Long.MAX_VALUE : status.usableBytes();
  }

  /** Returns in words what of the file system this user can take. */
  String usable() {
    FileSystemStatus status = fileSystem();
    boolean noFiles = status != null && status.totalFiles() > 0 && status.usableFiles() == 0;
    return usableBytes() + " usable bytes" + (noFiles ? ", and no inode for another file" : "");
  }

  /** Returns all free bytes of the file system, including those that it reserves for some users. */
  long unallocatedBytes() {
    FileSystemStatus status = fileSystem();
    return status == null ? Long.MAX_VALUE : status.unallocatedBytes();
  }

  /** Returns the size of the file system in bytes; {@link Long#MAX_VALUE} if that is unknown. */
  public long totalBytes() {
    FileSystemStatus status = fileSystem();
    return status == null ? Long.MAX_VALUE : status.totalBytes();
  }

  /** Whether opening a file for writing may make a copy of it that earlier readers do not see. */
  boolean isOfLayers() {
    FileSystemStatus status = FileSystemStatus.of(descriptor);
    return status != null && status.type() == OVERLAYFS;
  }

  /**
   * Whether the file system is a program's, where each close of a file writes all of its pages. It
   * should not be asked by {@link #writeError} again and again.
   */
  public boolean writesAtClose() {
    FileSystemStatus status = FileSystemStatus.of(descriptor);
    return status != null && status.type() == FUSE;
  }

  private FileSystemStatus fileSystem() {
    FileSystemStatus status = FileSystemStatus.of(descriptor);
    return status == null || status.totalBytes() == 0 ? null : status;
  }

  /**
   * Notes that the kernel could not write bytes of a file to the device, for as long as this object
   * lives. It tells of that only one caller, only once, and a second attempt may succeed because
   * nothing is left to be written.
   *
   * @param why the file, the call and the error, in words
   */
  void noteLost(String why) {
    if (lost == null) {
      lost = why;
    }
  }

  /**
   * Returns in words which file of the directory could not be made durable by a call of this
   * process; null when there is none. Then bytes of it, or of others, may be in memory alone.
   */
  public String lost() {
    return lost;
  }

  /** Makes a file durable that a descriptor has open, or notes that it can't be. */
  void sync(int file, String name) throws IOException {
    try {
      FileErrors.check("fsync", Libc.fsync(file), file(name));
    } catch (IOException e) {
      noteLost(FileErrors.inWords(e));
      throw e;
    }
  }

  /** Makes the names in it durable. */
  void sync() throws IOException {
    FileErrors.check("fsync", Libc.fsync(descriptor), path);
  }

  /**
   * The fate of a directory whose path does not lead to it any more.
   *
   * @param named the file that has the path now, in words
   * @param now the present path of the directory; null when it was removed, or when its path is
   *     unknown
   * @param removed whether it was removed
   */
  public record Stray(String named, Path now, boolean removed) {}

  /**
   * Finds out whether the path by which the directory was opened still leads to it. Returns null
   * when it does, or when that can't be determined, for example because this user may no longer
   * pass the path. Costs a system call.
   */
  public Stray strayed() {
    FileStatus there;
    try {
      there = FileStatus.of(Libc.AT_FDCWD, path.toString(), 0, path);
    } catch (NoSuchFileException | NotDirectoryException e) {
      return stray("there is nothing named " + path + " any more");
    } catch (IOException e) {
      return null;
    }
    if (there.isSameAs(opened)) {
      return null;
    }
    return stray(
        (there.isDirectory() ? "another directory" : "a file") + " is named " + path + " now");
  }

  /** The kernel knows the present path of an open directory. */
  private Stray stray(String named) {
    try {
      Path now = Files.readSymbolicLink(reopened(descriptor));
      if (isAt(now)) {
        return new Stray(named, now, false);
      }
      return new Stray(named, null, status().links() == 0 || now.toString().endsWith(" (deleted)"));
    } catch (IOException e) {
      return new Stray(named, null, false);
    }
  }

  private boolean isAt(Path now) {
    try {
      return FileStatus.of(Libc.AT_FDCWD, now.toString(), 0, now).isSameAs(opened);
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Opens a plain file for writing and closes it again, which a file system refuses that was shut
   * down, or that the kernel made read-only because it failed. Returns that error in words; null
   * when there is none. Another error, such as too many open files, is not the file system's. Costs
   * three system calls.
   */
  public String failure(String name) {
    try {
      Libc.close(open(name, true));
      return null;
    } catch (FailedFileSystemException e) {
      return FileErrors.inWords(e);
    } catch (IOException e) {
      return null;
    }
  }

  /**
   * Returns in words that the kernel failed to write stored bytes of a plain file to its device;
   * null when it did not, when somebody was told of that before, or when it can't be determined.
   * Without this call nobody learns of it: the kernel writes mapped pages long after the store, and
   * drops those that it could not write. Costs four system calls.
   *
   * <p>A file system of layers does not pass the error on.
   */
  public String writeError(String name) {
    int file;
    try {
      file = open(name, false);
    } catch (IOException e) {
      return null;
    }
    int error = Libc.writeError(file);
    Libc.close(file);
    return error >= 0 || CALL_REFUSED.contains(Errno.of(-error))
        ? null
        : name + ": " + Errno.inWords("write-back", -error);
  }

  @Override
  public void close() {
    // A second close could close another file that has got the same descriptor.
    assert !closed : path + " is closed twice";
    closed = true;
    Libc.unlock(descriptor);
    Libc.close(descriptor);
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
