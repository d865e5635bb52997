package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ListingTest {
  private static final Path TOLD = Path.of("the store");
  private static final Path NULL = Path.of("/dev/null");

  /** A directory that returns one name, and then throws an error as the JDK does. */
  private static final class Failing implements DirectoryStream<Path> {
    @Override
    public Iterator<Path> iterator() {
      return new Iterator<>() {
        private boolean given;

        @Override
        public boolean hasNext() {
          if (given) {
            throw new DirectoryIteratorException(
                new FileSystemException("/proc/self/fd/45", null, "Cannot allocate memory"));
          }
          return true;
        }

        @Override
        public Path next() {
          given = true;
          return Path.of("regions");
        }
      };
    }

    @Override
    public void close() {}
  }

  @Test
  void aDirectoryThatCanNotBeReadToItsEndIsAnErrorOfItsFile() {
    FileSystemException error =
        assertThrows(FileSystemException.class, () -> Listing.names(Failing::new, TOLD));
    assertEquals("the store: can't be listed: Cannot allocate memory", error.getMessage());
  }

  @Test
  void namesWhatIsMissing(@TempDir Path directory) {
    Path none = directory.resolve("none");
    FileSystemException error =
        assertThrows(FileSystemException.class, () -> Listing.names(none, TOLD));
    assertEquals(
        "the store: can't be listed: " + none + ": no such file or directory", error.getMessage());
  }

  /** Found by a review: a FIFO's opening waited for somebody who writes, for ever. */
  @Test
  void whatIsNoDirectoryIsRefusedAndNotWaitedFor(@TempDir Path directory) throws Exception {
    Path fifo = directory.resolve("fifo");
    assertEquals(0, new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor());
    for (Path none : List.of(fifo, Files.createFile(directory.resolve("file")), NULL)) {
      FileSystemException error =
          assertTimeoutPreemptively(
              Duration.ofSeconds(30),
              () -> assertThrows(FileSystemException.class, () -> Listing.names(none)));
      assertEquals(none + ": can't be listed: not a directory", error.getMessage());
    }
  }

  @Test
  void listsFilesOfEachKind(@TempDir Path directory) throws IOException {
    Files.createDirectory(directory.resolve("shm"));
    Files.createFile(directory.resolve("regions"));
    assertEquals(Set.of("shm", "regions"), Set.copyOf(Listing.names(directory)));
  }
}
