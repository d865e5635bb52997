package io.erda.launcher.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BackupWriterTest {
  private static final IOException WHY = new IOException("fsync: Input/output error");

  /** FAT, and some network file systems. The backup would be written, and find no name. */
  @Test
  void aFileSystemWithoutHardLinksIsRefusedBeforeAnythingIsWritten(@TempDir Path directory)
      throws IOException {
    List<BackupWriter.Links> without =
        List.of(
            (second, file) -> {
              throw new FileSystemException(
                  second.toString(), file.toString(), "Operation not permitted");
            },
            (second, file) -> {
              throw new UnsupportedOperationException("no links");
            });
    for (BackupWriter.Links links : without) {
      String said =
          assertThrows(
                  FileSystemException.class,
                  () -> BackupWriter.begin(directory, new UUID(1, 2), 0, 16, 16, links))
              .getMessage();
      assertTrue(said.contains(directory + ": a file there can't have a second name"), said);
      assertTrue(said.contains("permitted") || said.contains("no links"), said);
      try (Stream<Path> left = Files.list(directory)) {
        assertEquals(List.of(), left.toList());
      }
    }
  }

  /** The files of the probe are gone when the first key is written. */
  @Test
  void theProbeForHardLinksLeavesNothing(@TempDir Path directory) throws IOException {
    try (BackupWriter writer = BackupWriter.begin(directory, new UUID(1, 2), 0, 16, 16)) {
      try (Stream<Path> files = Files.list(directory)) {
        assertEquals(1, files.count());
      }
      writer.finish();
      assertNull(writer.left());
    }
    try (Stream<Path> files = Files.list(directory)) {
      assertEquals(List.of(directory.resolve(BackupWriter.FILE)), files.toList());
    }
  }

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
