package io.erda.launcher.backup;

import io.erda.pmem.DirectoryWay;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

/**
 * Writes a backup into a directory. The file gets its name when it is whole and on the disk; one
 * that was not finished is removed. Owns the file. One thread.
 */
public final class BackupWriter implements AutoCloseable {
  /** What a backup's file is called in its directory. */
  public static final String FILE = "erda.backup";

  private static final String UNFINISHED = ".unfinished";

  /** Little enough that no processor is taken for long to write it. */
  private static final int BUFFER_BYTES = 1 << 16;

  private static final byte[] NOTHING = {};

  private final Path directory;

  /** The file while it has not got its name; nobody else writes it. */
  private final Path unfinished;

  private final FileChannel file;
  private final OutputStream out;
  private final byte[] recordHeaderBytes = new byte[BackupFormat.RECORD_HEADER_BYTES];
  private final ByteBuffer recordHeader = BackupFormat.over(recordHeaderBytes);
  private final BackupFormat.RecordChecksum checksum = new BackupFormat.RecordChecksum();
  private long records;
  private long bytes;

  private BackupWriter(Path directory, Path unfinished, FileChannel file) {
    this.directory = directory;
    this.unfinished = unfinished;
    this.file = file;
    this.out = new BufferedOutputStream(Channels.newOutputStream(file), BUFFER_BYTES);
  }

  /**
   * Begins a backup.
   *
   * @param directory is there, and has no backup
   * @param store whose it is
   * @param beganMs when it was begun, milliseconds since 1970
   * @param keyBytesMax no key is longer
   * @param valueBytesMax no value is longer
   * @throws IOException when the file can't be made or written
   */
  public static BackupWriter begin(
      Path directory, UUID store, long beganMs, int keyBytesMax, int valueBytesMax)
      throws IOException {
    // Of its user alone, and a file that was not there before.
    Path unfinished = Files.createTempFile(directory, FILE + ".", UNFINISHED);
    FileChannel file =
        FileChannel.open(unfinished, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    BackupWriter writer = new BackupWriter(directory, unfinished, file);
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
      writer.write(headerBytes);
      begun = true;
      return writer;
    } finally {
      if (!begun) {
        writer.close();
      }
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
    out.write(what);
    bytes += what.length;
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
   * It is whole: waits until it is on the disk, and gives it its name.
   *
   * @throws java.nio.file.FileAlreadyExistsException when another backup has got the name since
   */
  public void finish() throws IOException {
    record(NOTHING, NOTHING);
    out.flush();
    file.force(true);
    // A second name, and not a move: that would take the place of another backup.
    Files.createLink(directory.resolve(FILE), unfinished);
    // The directory may be as new as the file.
    DirectoryWay.sync(directory);
  }

  @Override
  public void close() throws IOException {
    try {
      Files.deleteIfExists(unfinished);
    } finally {
      file.close();
    }
  }
}
