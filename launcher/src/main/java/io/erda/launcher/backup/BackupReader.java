package io.erda.launcher.backup;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/**
 * Reads a backup from its beginning to its end, and verifies all checksums. Owns the file. One
 * thread.
 */
public final class BackupReader implements AutoCloseable {
  /** A backup is damaged. */
  public static final class DamagedException extends IOException {
    private static final long serialVersionUID = 1L;

    DamagedException(String message) {
      super(message);
    }
  }

  private static final int BUFFER_BYTES = 1 << 18;

  private final Path path;
  private final long length;
  private final InputStream in;
  private final byte[] headerBytes = new byte[BackupFormat.HEADER_BYTES];
  private final ByteBuffer header = BackupFormat.over(headerBytes);
  private final byte[] recordHeaderBytes = new byte[BackupFormat.RECORD_HEADER_BYTES];
  private final ByteBuffer recordHeader = BackupFormat.over(recordHeaderBytes);
  private final BackupFormat.RecordChecksum checksum = new BackupFormat.RecordChecksum();
  private long at;
  private long records;
  private boolean ended;
  private byte[] key;
  private byte[] value;

  private BackupReader(Path path, long length, InputStream in) {
    this.path = path;
    this.length = length;
    this.in = in;
  }

  /**
   * Opens the backup of a directory.
   *
   * @throws DamagedException when its header is not that of a backup, or of another version
   * @throws IOException when it can't be read
   */
  public static BackupReader open(Path directory) throws IOException {
    Path path = directory.resolve(BackupWriter.FILE);
    if (Files.exists(path) && !Files.isRegularFile(path)) {
      // Opening a FIFO would wait for a writer.
      throw new FileSystemException(path.toString(), null, "not a regular file");
    }
    InputStream in = new BufferedInputStream(Files.newInputStream(path), BUFFER_BYTES);
    BackupReader reader = new BackupReader(path, Files.size(path), in);
    boolean opened = false;
    try {
      reader.readHeader();
      opened = true;
      return reader;
    } finally {
      if (!opened) {
        in.close();
      }
    }
  }

  private void readHeader() throws IOException {
    if (length < BackupFormat.HEADER_BYTES) {
      throw damaged("it is too short");
    }
    fill(headerBytes);
    if (header.getLong(0) != BackupFormat.MAGIC) {
      throw new DamagedException(path + " is no backup of Erda's");
    }
    int version = header.getInt(8);
    if (version != BackupFormat.VERSION) {
      throw new DamagedException(
          path
              + " is a backup of version "
              + version
              + ", and this program reads version "
              + BackupFormat.VERSION);
    }
    if (header.getInt(BackupFormat.CHECKSUM_OFFSET) != BackupFormat.headerChecksum(header)
        || keyBytesMax() < 0
        || valueBytesMax() < 0) {
      throw damaged("its header has another checksum");
    }
  }

  /** The store that was backed up. */
  public UUID store() {
    return new UUID(
        header.getLong(BackupFormat.STORE_OFFSET),
        header.getLong(BackupFormat.STORE_OFFSET + Long.BYTES));
  }

  /** When it was begun, milliseconds since 1970. */
  public long beganMs() {
    return header.getLong(BackupFormat.BEGAN_OFFSET);
  }

  private int keyBytesMax() {
    return header.getInt(BackupFormat.KEY_MAX_OFFSET);
  }

  private int valueBytesMax() {
    return header.getInt(BackupFormat.VALUE_MAX_OFFSET);
  }

  /**
   * Moves to the next key. Returns false at the end of a backup that is whole.
   *
   * @throws DamagedException when it is damaged, or has no end
   */
  public boolean next() throws IOException {
    if (ended) {
      return false;
    }
    require(BackupFormat.RECORD_HEADER_BYTES);
    fill(recordHeaderBytes);
    int keyLength = recordHeader.getInt(0);
    int valueLength = recordHeader.getInt(4);
    // Nothing is allocated for an impossible length.
    if (keyLength < 0
        || keyLength > keyBytesMax()
        || valueLength < 0
        || valueLength > valueBytesMax()) {
      throw damagedHere();
    }
    require((long) keyLength + valueLength);
    key = new byte[keyLength];
    value = new byte[valueLength];
    fill(key);
    fill(value);
    if (recordHeader.getInt(8) != checksum.of(records, key, value)) {
      throw damagedHere();
    }
    if (keyLength == 0) {
      ended = true;
      if (valueLength != 0 || at != length) {
        throw damaged("something follows its end");
      }
      return false;
    }
    records++;
    return true;
  }

  private void require(long bytes) throws DamagedException {
    if (length - at < bytes) {
      throw damaged("it ends in the middle, behind " + records + " keys");
    }
  }

  private void fill(byte[] bytes) throws IOException {
    int read;
    try {
      read = in.readNBytes(bytes, 0, bytes.length);
    } catch (IOException e) {
      FileSystemException named =
          new FileSystemException(
              path.toString(), null, "can't be read from byte " + at + " on: " + e.getMessage());
      named.initCause(e);
      throw named;
    }
    if (read < bytes.length) {
      throw damaged("it became shorter while it was read");
    }
    at += bytes.length;
  }

  private DamagedException damagedHere() {
    return damaged("key number " + (records + 1) + ", before byte " + at);
  }

  private DamagedException damaged(String what) {
    return new DamagedException(path + " is damaged: " + what);
  }

  /** The current key. */
  public byte[] key() {
    return key;
  }

  /** Its value. */
  public byte[] value() {
    return value;
  }

  /** Number of keys so far. */
  public long records() {
    return records;
  }

  /** Number of bytes read. */
  public long position() {
    return at;
  }

  /** Length of the file, bytes. */
  public long length() {
    return length;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
