package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The description of an error names the file, and no Java type. */
class FileErrorsTest {
  @Test
  void theTypeIsSaidInWords() {
    assertEquals("f: no such file or directory", FileErrors.inWords(new NoSuchFileException("f")));
    assertEquals("f: permission denied", FileErrors.inWords(new AccessDeniedException("f")));
    assertEquals("f: open: x", FileErrors.inWords(new NoSuchFileException("f", null, "open: x")));
    assertEquals(
        "f: unlink: y", FileErrors.inWords(new FileSystemException("f", null, "unlink: y")));
    assertEquals("input or output failed (IOException)", FileErrors.inWords(new IOException()));
  }

  @Test
  void whatWasSaidBesideTheCauseStandsBeforeIt() {
    IOException cause = new FileSystemException("f", null, "unlink: y");
    assertEquals("f: unlink: y", FileErrors.inWords(new UncheckedIOException(cause)));
    assertEquals("no: f: unlink: y", FileErrors.inWords(new UncheckedIOException("no", cause)));
    assertEquals(
        "no: f: unlink: y!",
        FileErrors.inWords(new UncheckedIOException("no: f: unlink: y!", cause)));
  }

  @Test
  void explainsWhatIsOfFilesAndNothingElse() {
    IOException reset = new IOException("Connection reset by peer");
    assertEquals("Connection reset by peer", FileErrors.explain(reset));
    assertEquals("Connection reset by peer", FileErrors.explain(new UncheckedIOException(reset)));
    assertNull(FileErrors.explain(new IllegalStateException("closed")));
  }

  /** Files are found through the open directory, whose number says nothing to a person. */
  @Test
  void anOpenDirectoryIsToldByItsPath(@TempDir Path directory) {
    int descriptor = Libc.open(directory, Libc.O_RDONLY);
    String through = "/proc/self/fd/" + descriptor;
    try {
      assertEquals(
          directory + "/table-2: Input/output error",
          FileErrors.inWords(
              new FileSystemException(through + "/table-2", null, "Input/output error")));
    } finally {
      Libc.close(descriptor);
    }
    assertEquals(
        through + "/f: no such file or directory",
        FileErrors.inWords(new NoSuchFileException(through + "/f")));
  }
}
