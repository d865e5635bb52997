package io.erda.launcher.backup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The file of a backup: what comes out is what went in, or an error. */
class BackupTest {
  private static final UUID STORE = new UUID(3, 4);
  private static final int KEYS = 20;

  @TempDir Path directory;

  private static byte[] key(int i) {
    return ("key " + i).getBytes(UTF_8);
  }

  private static byte[] value(int i) {
    return new byte[i * 7 % 50];
  }

  private BackupWriter begin() throws IOException {
    return BackupWriter.begin(directory, STORE, 12345, 64, 64);
  }

  private void write() throws IOException {
    try (BackupWriter writer = begin()) {
      for (int i = 0; i < KEYS; i++) {
        writer.add(key(i), value(i));
      }
      writer.finish();
    }
  }

  /** Opening a FIFO for reading would wait for a writer. */
  @Test
  void aFifoIsNoBackup() throws IOException, InterruptedException {
    Path fifo = directory.resolve(BackupWriter.FILE);
    assertEquals(0, new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor());
    IOException error = assertThrows(IOException.class, () -> BackupReader.open(directory));
    assertTrue(error.getMessage().contains("not a regular file"), error.getMessage());
  }

  private int read() throws IOException {
    try (BackupReader reader = BackupReader.open(directory)) {
      assertEquals(STORE, reader.store());
      assertEquals(12345, reader.beganMs());
      int count = 0;
      for (; reader.next(); count++) {
        assertArrayEquals(key(count), reader.key());
        assertArrayEquals(value(count), reader.value());
      }
      assertFalse(reader.next());
      return count;
    }
  }

  @Test
  void givesBackWhatWasWritten() throws IOException {
    write();
    assertEquals(KEYS, read());
  }

  @Test
  void everyByteIsProven() throws IOException {
    write();
    Path file = directory.resolve(BackupWriter.FILE);
    byte[] sound = Files.readAllBytes(file);
    for (int i = 0; i < sound.length; i++) {
      byte[] damaged = sound.clone();
      damaged[i] ^= 4;
      Files.write(file, damaged);
      assertThrows(BackupReader.DamagedException.class, this::read, "byte " + i);
    }
  }

  @Test
  void theEndIsProven() throws IOException {
    write();
    Path file = directory.resolve(BackupWriter.FILE);
    byte[] sound = Files.readAllBytes(file);
    for (int length = 0; length < sound.length; length++) {
      Files.write(file, Arrays.copyOf(sound, length));
      assertThrows(BackupReader.DamagedException.class, this::read, length + " bytes");
    }
    Files.write(file, Arrays.copyOf(sound, sound.length + 1));
    assertThrows(BackupReader.DamagedException.class, this::read);
  }

  @Test
  void aRecordThatIsMissingIsNoticed() throws IOException {
    write();
    Path file = directory.resolve(BackupWriter.FILE);
    byte[] sound = Files.readAllBytes(file);
    int first = BackupFormat.HEADER_BYTES;
    int second = first + BackupFormat.RECORD_HEADER_BYTES + key(0).length + value(0).length;
    byte[] without = new byte[sound.length - (second - first)];
    System.arraycopy(sound, 0, without, 0, first);
    System.arraycopy(sound, second, without, first, without.length - first);
    Files.write(file, without);
    assertThrows(BackupReader.DamagedException.class, this::read);
  }

  @Test
  void whatIsNotFinishedIsNoBackup() throws IOException {
    try (BackupWriter writer = begin()) {
      writer.add(key(0), value(0));
    }
    try (Stream<Path> files = Files.list(directory)) {
      assertEquals(0, files.count());
    }
  }

  @Test
  void whatAnInterruptedOneLeftIsRemoved() throws IOException {
    Path left = Files.write(directory.resolve("erda.backup.1.unfinished"), new byte[100_000]);
    Path others = Files.write(directory.resolve("erda.backup.of-monday"), new byte[1]);
    Path another = Files.createDirectory(directory.resolve("erda.backup.2.unfinished"));
    write();
    assertEquals(KEYS, read());
    assertFalse(Files.exists(left));
    assertTrue(Files.exists(others));
    assertTrue(Files.exists(another));
  }

  @Test
  void noBackupIsWrittenOver() throws IOException {
    write();
    assertThrows(FileAlreadyExistsException.class, this::write);
    assertEquals(KEYS, read());
  }

  @Test
  void ofTwoAtATimeOneGetsTheName() throws IOException {
    try (BackupWriter first = begin();
        BackupWriter second = begin()) {
      second.add(key(5), value(5));
      write();
      assertThrows(FileAlreadyExistsException.class, second::finish);
      assertThrows(FileAlreadyExistsException.class, first::finish);
    }
    assertEquals(KEYS, read());
    try (Stream<Path> files = Files.list(directory)) {
      assertEquals(1, files.count());
    }
  }

  @Test
  void itIsItsUsersAlone() throws IOException {
    write();
    assertEquals(
        "rw-------",
        PosixFilePermissions.toString(
            Files.getPosixFilePermissions(directory.resolve(BackupWriter.FILE))));
  }
}
