package io.erda.launcher.backup;

import io.erda.pmem.DirectoryWay;
import io.erda.pmem.FileErrors;
import io.erda.pmem.Listing;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Writes a backup into a directory. The file gets its name when it is whole and on the disk. An
 * unfinished file is removed when this is closed, and when a signal ends the JVM. The next backup
 * into the directory removes files that a SIGKILL or a power failure left: the writer of a file
 * holds its lock, so a file that can be locked has no writer. When a backup fails at its very end
 * its name is removed again. Owns the file. One thread; a JVM makes one backup at a time, because
 * such a lock belongs to a process.
 */
public final class BackupWriter implements AutoCloseable {
  /** The name of a backup's file in its directory. */
  public static final String FILE = "erda.backup";

  private static final String UNFINISHED = ".unfinished";
  private static final Pattern LEFT =
      Pattern.compile(Pattern.quote(FILE) + "\\.[0-9].*" + Pattern.quote(UNFINISHED));

  /** So small that writing it does not occupy a processor for long. */
  private static final int BUFFER_BYTES = 1 << 16;

  private static final byte[] NOTHING = {};

  private final Path directory;

  /** The file under its temporary name, which only this process writes. */
  private final Path unfinished;

  private final FileChannel file;
  private final OutputStream out;
  private final Thread atExit = new Thread(this::removeAtExit, "remove-unfinished-backup");
  private final byte[] recordHeaderBytes = new byte[BackupFormat.RECORD_HEADER_BYTES];
  private final ByteBuffer recordHeader = BackupFormat.over(recordHeaderBytes);
  private final BackupFormat.RecordChecksum checksum = new BackupFormat.RecordChecksum();
  private long records;
  private long bytes;

  /** Whether the file has its name and is on the disk. */
  private boolean finished;

  private String left;

  private BackupWriter(Path directory, Path unfinished, FileChannel file) {
    this.directory = directory;
    this.unfinished = unfinished;
    this.file = file;
    this.out = new BufferedOutputStream(Channels.newOutputStream(file), BUFFER_BYTES);
  }

  /** Gives a file a second name. */
  interface Links {
    void link(Path second, Path file) throws IOException;
  }

  /**
   * Begins a backup.
   *
   * @param directory an existing directory without a backup
   * @param store the store that is backed up
   * @param beganMs when it was begun, milliseconds since 1970
   * @param keyBytesMax no key is longer
   * @param valueBytesMax no value is longer
   * @throws IOException when the file can't be made or written
   */
  public static BackupWriter begin(
      Path directory, UUID store, long beganMs, int keyBytesMax, int valueBytesMax)
      throws IOException {
    return begin(directory, store, beganMs, keyBytesMax, valueBytesMax, Files::createLink);
  }

  /**
   * As {@link #begin(Path, UUID, long, int, int)}.
   *
   * @param links gives a file there a second name, to test whether that is possible
   */
  static BackupWriter begin(
      Path directory, UUID store, long beganMs, int keyBytesMax, int valueBytesMax, Links links)
      throws IOException {
    removeLeft(directory);
    BackupWriter writer = create(directory);
    byte[] headerBytes = new byte[BackupFormat.HEADER_BYTES];
    ByteBuffer header = BackupFormat.over(headerBytes);
    header.putLong(0, BackupFormat.MAGIC).putInt(8, BackupFormat.VERSION);
    header.putLong(BackupFormat.STORE_OFFSET, store.getMostSignificantBits());
    header.putLong(BackupFormat.STORE_OFFSET + Long.BYTES, store.getLeastSignificantBits());
    header.putLong(BackupFormat.BEGAN_OFFSET, beganMs);
    header.putInt(BackupFormat.KEY_MAX_OFFSET, keyBytesMax);
    header.putInt(BackupFormat.VALUE_MAX_OFFSET, valueBytesMax);
    header.putInt(BackupFormat.CHECKSUM_OFFSET, BackupFormat.headerChecksum(header));
    boolean begun = false;
    try {
      Runtime.getRuntime().addShutdownHook(writer.atExit);
      writer.requireLinks(links);
      writer.write(headerBytes);
      begun = true;
      return writer;
    } finally {
      if (!begun) {
        writer.close();
      }
    }
  }

  /** Requires that the file system has hard links: the final name of the file is a second one. */
  private void requireLinks(Links links) throws IOException {
    String name = unfinished.getFileName().toString();
    Path second = directory.resolve(name.replace(UNFINISHED, "0" + UNFINISHED));
    try {
      links.link(second, unfinished);
    } catch (UnsupportedOperationException | FileSystemException e) {
      FileSystemException named =
          new FileSystemException(
              directory.toString(),
              null,
              "a file there can't have a second name, by which a backup that is whole gets its own:"
                  + " "
                  + (e instanceof IOException of ? FileErrors.inWords(of) : e.getMessage()));
      named.initCause(e);
      throw named;
    }
    Files.deleteIfExists(second);
  }

  /** Removes unfinished files whose process has ended. */
  private static void removeLeft(Path directory) throws IOException {
    for (String name : Listing.names(directory)) {
      Path file = directory.resolve(name);
      if (LEFT.matcher(name).matches() && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
        removeIfLeft(file);
      }
    }
  }

  private static void removeIfLeft(Path path) {
    try (FileChannel file =
        FileChannel.open(path, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      if (file.tryLock() != null) {
        Files.deleteIfExists(path);
      }
    } catch (IOException | OverlappingFileLockException e) {
      // The file is another user's, or gone, or its file system has no locks: it does no harm.
    }
  }

  private static BackupWriter create(Path directory) throws IOException {
    while (true) {
      // A new file that only its user may access.
      Path unfinished = Files.createTempFile(directory, FILE + ".", UNFINISHED);
      try {
        FileChannel file =
            FileChannel.open(unfinished, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        // A concurrent backup may have removed this file before it was locked, as one that was left
        // behind.
        if (isLockable(file) && Files.exists(unfinished)) {
          return new BackupWriter(directory, unfinished, file);
        }
        file.close();
      } catch (NoSuchFileException e) {
        // The other backup has removed the file.
      }
    }
  }

  /**
   * Whether the file can be locked; false when another process checks it. Without locks no process
   * removes it either.
   */
  private static boolean isLockable(FileChannel file) {
    try {
      return file.tryLock() != null;
    } catch (IOException e) {
      return true;
    }
  }

  /** Adds a key, which is not empty, with its value. */
  public void add(byte[] key, byte[] value) throws IOException {
    if (key.length == 0) {
      throw new IllegalArgumentException("no key is empty");
    }
    record(key, value);
    records++;
  }

  private void record(byte[] key, byte[] value) throws IOException {
    recordHeader.putInt(0, key.length).putInt(4, value.length);
    recordHeader.putInt(8, checksum.of(records, key, value));
    write(recordHeaderBytes);
    write(key);
    write(value);
  }

  private void write(byte[] what) throws IOException {
    try {
      out.write(what);
    } catch (IOException e) {
      throw named(e);
    }
    bytes += what.length;
  }

  /** Adds the file's name to an exception, which has none when writing to an open file fails. */
  private FileSystemException named(IOException e) {
    FileSystemException named =
        new FileSystemException(
            directory.resolve(FILE).toString(), null, "can't be written: " + e.getMessage());
    named.initCause(e);
    return named;
  }

  /** Keys so far. */
  public long records() {
    return records;
  }

  /** Bytes of the file so far. */
  public long bytes() {
    return bytes;
  }

  /**
   * Finishes the backup: waits until the file is on the disk, and gives it its name.
   *
   * @throws java.nio.file.FileAlreadyExistsException when another backup has got the name since
   */
  public void finish() throws IOException {
    record(NOTHING, NOTHING);
    try {
      out.flush();
      file.force(true);
    } catch (IOException e) {
      throw named(e);
    }
    // A second name instead of a move, which would replace another backup.
    Files.createLink(directory.resolve(FILE), unfinished);
    try {
      // The directory may be new, too.
      DirectoryWay.sync(directory);
      finished = true;
    } catch (IOException e) {
      throw withdrawn(directory.resolve(FILE), e);
    }
    removeUnfinishedName();
  }

  /**
   * Removes the name of a backup that may not be on the disk.
   *
   * @param why it may not be
   * @return the exception to throw; if the name could not be removed, its message says so, and what
   *     to do
   */
  static IOException withdrawn(Path named, IOException why) {
    try {
      Files.deleteIfExists(named);
      return why;
    } catch (IOException e) {
      FileSystemException both =
          new FileSystemException(
              named.toString(),
              null,
              "it may not be on the disk (%s), and can't be removed (%s): remove it by hand"
                  .formatted(FileErrors.inWords(why), FileErrors.inWords(e)));
      both.initCause(why);
      return both;
    }
  }

  /** The backup is whole and has its name: its temporary name does no harm. */
  private void removeUnfinishedName() {
    try {
      Files.deleteIfExists(unfinished);
    } catch (IOException e) {
      left =
          FileErrors.inWords(e)
              + ": another name of the backup, which is whole; the next backup into this directory"
              + " removes it";
    }
  }

  /** The name that could not be removed after a whole backup, in one line, or null. */
  public String left() {
    return left;
  }

  private void removeAtExit() {
    try {
      Files.deleteIfExists(unfinished);
    } catch (IOException e) {
      // The next backup tries again.
    }
  }

  @Override
  public void close() throws IOException {
    try {
      if (!finished) {
        Files.deleteIfExists(unfinished);
      }
    } finally {
      file.close();
    }
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      // The JVM is ending: the hook runs, and finds nothing left to do.
    }
  }
}
