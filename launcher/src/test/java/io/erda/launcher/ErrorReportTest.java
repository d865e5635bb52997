package io.erda.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.FileSystemException;
import org.junit.jupiter.api.Test;

/**
 * An exception of a command is printed as one line, and a failure of the machine is not reported as
 * a defect of Erda.
 */
class ErrorReportTest {
  private static String said(Throwable failure) {
    StringWriter err = new StringWriter();
    assertEquals(1, new ErrorReport(false).failed(failure, new PrintWriter(err), false));
    assertEquals(1, err.toString().lines().count(), err.toString());
    return err.toString().strip();
  }

  @Test
  void aDirectoryThatCanNotBeRead() {
    IOException cause = new FileSystemException("/d", null, "Input/output error");
    assertEquals("erda: /d: Input/output error", said(new DirectoryIteratorException(cause)));
    assertEquals("erda: /d: Input/output error", said(new UncheckedIOException(cause)));
  }

  @Test
  void whatIsSaidBesideACauseNamesTheFile() {
    IOException cause = new IOException("msync with parameter MS_SYNC failed");
    assertEquals(
        "erda: table-1: msync with parameter MS_SYNC failed",
        said(new UncheckedIOException("table-1", cause)));
  }

  /**
   * Found by a review: the message advised to raise a limit of the client when the server had
   * reached its limit.
   */
  @Test
  void whoHasTooManyFilesOpenIsTold() {
    String own = said(new FileSystemException("/d", null, "Too many open files"));
    assertTrue(own.startsWith("erda: too many open files: a process may have more"), own);
    String answer = "put of key 'a': not now: /d/spare-1: open: Too many open files (errno 24)";
    String servers = said(new ErdaException.Unavailable(answer));
    assertTrue(servers.startsWith("erda: " + answer + "; the server may have more"), servers);
  }

  @Test
  void noMemory() {
    String said = said(new OutOfMemoryError("Java heap space"));
    assertTrue(said.startsWith("erda: out of memory: Java heap space; "), said);
    assertTrue(said.contains("ERDA_JAVA_OPTS"), said);
  }
}
