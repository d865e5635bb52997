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
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A directory that was opened once. Everything in it is found relative to the open directory, by
 * one plain name, and a symbolic link is not followed: this process goes on to use the same files
 * when the directory is renamed, another one takes its place, or a link points elsewhere.
 *
 * <p>Paths serve only messages and {@link #strayed}.
 *
 * <p>Owns a descriptor. Any thread may call any method as long as the directory is open.
 */
public final class OpenDirectory implements AutoCloseable {
  private static final long OVERLAYFS = 0x794c7630L;

  private final Path path;
  private final int descriptor;
  private final FileStatus opened;

  private boolean closed;

  private OpenDirectory(Path path, int descriptor, FileStatus opened) {
    this.path = path;
    this.descriptor = descriptor;
    this.opened = opened;
  }

  /**
   * Opens a directory that can be read. Changes nothing in it.
   *
   * @param path where symbolic links are followed, now and never again
   * @throws NoSuchFileException when there is none
   * @throws NotDirectoryException when the path is that of something else
   * @throws java.nio.file.AccessDeniedException when it can't be read
   */
  public static OpenDirectory open(Path path) throws IOException {
    return open(path, Libc.O_RDONLY);
  }

  /**
   * The same without the right to read the directory, which then can be neither listed, locked nor
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

  /** The absolute path that it was opened by, for messages. */
  public Path path() {
    return path;
  }

  /** The path of a file in it, for messages. */
  public Path file(String name) {
    return path.resolve(name);
  }

  /**
   * A path by which the JDK finds a name in the open directory, wherever that is now; {@code "."}
   * for the directory itself.
   */
  public Path at(String name) {
    return reopened(descriptor).resolve(name);
  }

  /** A path by which the JDK finds the very file that a descriptor has open. */
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
        // The channel only served to map the file.
      }
    }
  }

  /** The descriptor, for calls to the C library. This object closes it. */
  public int descriptor() {
    return descriptor;
  }

  /**
   * A descriptor of a plain file.
   *
   * @throws NoSuchFileException when there is none
   * @throws FileSystemException also when the name is that of something else
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

  /** A descriptor of a new, empty file; the name must be free. */
  int create(String name) throws IOException {
    int flags = Libc.O_RDWR | Libc.O_CREAT | Libc.O_EXCL | Libc.O_NOFOLLOW;
    return FileErrors.check("open", Libc.open(descriptor, name, flags), file(name));
  }

  /** A descriptor of a new file without a name, or the negated errno. */
  int createNameless() {
    return Libc.open(descriptor, ".", Libc.O_RDWR | Libc.O_TMPFILE);
  }

  /** Gives a file without a name a free one. Returns 0, or the negated errno. */
  int link(int nameless, String name) {
    return Libc.link(nameless, descriptor, name);
  }

  /** Removes a file's name, if it is there. */
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
   * @throws java.nio.file.FileAlreadyExistsException when the name is taken, by whatever
   */
  public void makeDirectory(String name, int mode) throws IOException {
    FileErrors.check("mkdir", Libc.makeDirectory(descriptor, name, mode), file(name));
  }

  /** Describes what has a name, which may be a symbolic link; null when nothing has it. */
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
   * Whether something has a name: of whatever kind, a symbolic link that leads nowhere too.
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
   * A memory of this directory that has a hard link somewhere else, so that changes under the other
   * name change it here too; null when there is none. Costs a system call for each file.
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

  /** Whether a directory, and no symbolic link to one, has a name. */
  public boolean isDirectory(String name) {
    try {
      FileStatus status = status(name);
      return status != null && status.isDirectory();
    } catch (IOException e) {
      return false;
    }
  }

  /** The number that a file has in its file system; 0 when nothing has the name. */
  public long inode(String name) throws IOException {
    FileStatus status = status(name);
    return status == null ? 0 : status.inode();
  }

  /** All names, of whatever kind, in no order. */
  public List<String> names() throws IOException {
    return Listing.names(at("."), path);
  }

  /** How much room the file system has for this user, bytes; the largest number if it's unknown. */
  public long usableBytes() {
    FileSystemStatus status = fileSystem();
    return status == null ? Long.MAX_VALUE : status.usableBytes();
  }

  /**
   * The same, with the bytes that the file system reserves for some users: the most anybody can
   * get.
   */
  long unallocatedBytes() {
    FileSystemStatus status = fileSystem();
    return status == null ? Long.MAX_VALUE : status.unallocatedBytes();
  }

  /** How large the file system is, bytes; the largest number where it does not say. */
  public long totalBytes() {
    FileSystemStatus status = fileSystem();
    return status == null ? Long.MAX_VALUE : status.totalBytes();
  }

  /** Whether opening a file to write may make a copy of it, which earlier readers do not see. */
  boolean isOfLayers() {
    FileSystemStatus status = FileSystemStatus.of(descriptor);
    return status != null && status.type() == OVERLAYFS;
  }

  private FileSystemStatus fileSystem() {
    FileSystemStatus status = FileSystemStatus.of(descriptor);
    return status == null || status.totalBytes() == 0 ? null : status;
  }

  /** Makes the names in it durable. */
  void sync() throws IOException {
    FileErrors.check("fsync", Libc.fsync(descriptor), path);
  }

  /**
   * What became of a directory that its path does not lead to any more.
   *
   * @param named what has its path now, in words
   * @param now where the directory is; null when it was removed, and where nobody can tell
   * @param removed whether it was removed
   */
  public record Stray(String named, Path now, boolean removed) {}

  /**
   * Looks whether the path by which the directory was opened still leads to it. Null when it does,
   * or when that can't be found out, for example because this user may no longer pass the path.
   * Costs a system call.
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

  /** The kernel knows where an open directory is. */
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

  @Override
  public void close() {
    // A second close would end whatever has the number by then.
    assert !closed : path + " is closed twice";
    closed = true;
    Libc.close(descriptor);
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
