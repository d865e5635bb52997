package io.erda.launcher.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BackupWriterTest {
  private static final IOException WHY = new IOException("fsync: Input/output error");

  @Test
  void aBackupThatMayNotBeOnTheDiskLosesItsName(@TempDir Path directory) throws IOException {
    Path named = Files.createFile(directory.resolve(BackupWriter.FILE));
    assertSame(WHY, BackupWriter.withdrawn(named, WHY));
    assertFalse(Files.exists(named));
  }

  @Test
  void aNameThatCanNotBeTakenIsToldBesideTheReason(@TempDir Path directory) throws IOException {
    Path named = directory.resolve(BackupWriter.FILE);
    Files.createDirectories(named.resolve("what keeps it there"));
    assertEquals(
        named
            + ": it may not be on the disk (fsync: Input/output error), and can't be removed ("
            + named
            + ": the directory is not empty): remove it by hand",
        BackupWriter.withdrawn(named, WHY).getMessage());
  }
}
