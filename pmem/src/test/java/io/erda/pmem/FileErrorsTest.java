package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

/** What is said of an error names the file and no type of Java's. */
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
}
