package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tells what an open directory knows of itself and of its name. */
final class OpenDirectoryTest {
  @TempDir Path files;

  private OpenDirectory made() throws IOException {
    return OpenDirectory.open(Files.createDirectory(files.resolve("store")));
  }

  @Test
  void itsNameLeadsToIt() throws Exception {
    try (OpenDirectory directory = made()) {
      assertNull(directory.strayed());
      Files.createDirectory(files.resolve("store").resolve("more"));
      Files.setLastModifiedTime(files.resolve("store"), FileTime.fromMillis(0));
      assertNull(directory.strayed());
    }
  }

  @Test
  void itIsToldWhereARenamedOneIs() throws Exception {
    Path store = files.resolve("store");
    Path moved = files.resolve("moved");
    try (OpenDirectory directory = made()) {
      Files.move(store, moved);
      assertEquals(
          new OpenDirectory.Stray(
              "there is nothing named " + store + " any more", moved.toRealPath(), false),
          directory.strayed());
      Files.createDirectory(store);
      assertEquals(
          new OpenDirectory.Stray(
              "another directory is named " + store + " now", moved.toRealPath(), false),
          directory.strayed());
      Files.delete(store);
      Files.createFile(store);
      assertEquals(
          new OpenDirectory.Stray("a file is named " + store + " now", moved.toRealPath(), false),
          directory.strayed());
      Files.delete(store);
      Files.move(moved, store);
      assertNull(directory.strayed());
    }
  }

  @Test
  void itIsToldThatItWasRemoved() throws Exception {
    Path store = files.resolve("store");
    try (OpenDirectory directory = made()) {
      Files.delete(store);
      assertEquals(
          new OpenDirectory.Stray("there is nothing named " + store + " any more", null, true),
          directory.strayed());
      Files.createDirectory(store);
      assertEquals(
          new OpenDirectory.Stray("another directory is named " + store + " now", null, true),
          directory.strayed());
      assertEquals(List.of(), directory.names());
    }
  }

  @Test
  void aDirectoryAboveMayMoveToo() throws Exception {
    Path above = Files.createDirectory(files.resolve("above"));
    Path store = Files.createDirectory(above.resolve("store"));
    try (OpenDirectory directory = OpenDirectory.open(store)) {
      Files.move(above, files.resolve("elsewhere"));
      assertEquals(
          files.toRealPath().resolve("elsewhere").resolve("store"), directory.strayed().now());
      Files.createFile(above);
      assertTrue(directory.strayed().named().startsWith("there is nothing named"));
    }
  }

  @Test
  void aLinkThatIsPointedElsewhereLeadsElsewhere() throws Exception {
    Path store = Files.createDirectory(files.resolve("one"));
    Path link = Files.createSymbolicLink(files.resolve("store"), store);
    try (OpenDirectory directory = OpenDirectory.open(link)) {
      assertNull(directory.strayed());
      Files.delete(link);
      Files.createSymbolicLink(link, Files.createDirectory(files.resolve("two")));
      assertEquals(
          new OpenDirectory.Stray(
              "another directory is named " + link + " now", store.toRealPath(), false),
          directory.strayed());
    }
  }

  /** One that may be passed alone can't be listed, and is as good for everything else. */
  @Test
  void itMayBeOpenedToPass() throws Exception {
    Path store = Files.createDirectory(files.resolve("store"));
    Files.writeString(store.resolve("a"), "12345");
    try (OpenDirectory directory = OpenDirectory.openToPass(store)) {
      assertTrue(directory.exists("a"));
      assertFalse(directory.isDirectory("a"));
      assertNotEquals(0, directory.named("a").inode());
      assertNull(directory.named("b"));
      assertEquals(5, directory.status("a").bytes());
      assertTrue(directory.usableBytes() <= directory.totalBytes());
    }
  }

  @Test
  void aStatusIsWhatTheJdkSays() throws Exception {
    try (OpenDirectory directory = made()) {
      Path file = Files.writeString(directory.file("a"), "123");
      Files.createLink(directory.file("b"), file);
      Map<String, Object> is = Files.readAttributes(file, "unix:mode,ino,nlink,size,uid,gid");
      FileStatus status = directory.status("a");
      assertEquals(is.get("mode"), status.mode());
      assertEquals(is.get("ino"), status.inode());
      assertEquals(is.get("nlink"), status.links());
      assertEquals(is.get("size"), status.bytes());
      assertEquals(is.get("uid"), status.userId());
      assertEquals(is.get("gid"), status.groupId());
      assertTrue(status.isRegular() && !status.isDirectory());
      assertTrue(status.isSameAs(directory.status("b")));
      assertFalse(status.isSameAs(directory.status()));
      assertTrue(directory.status().isDirectory());
      assertNull(directory.status("c"));
    }
  }

  @Test
  void itMakesDirectoriesAndListsAll() throws Exception {
    try (OpenDirectory directory = made()) {
      directory.makeDirectory("shm", 0700);
      assertTrue(directory.isDirectory("shm"));
      assertThrows(FileAlreadyExistsException.class, () -> directory.makeDirectory("shm", 0700));
      Files.createSymbolicLink(directory.file("link"), directory.file("shm"));
      assertFalse(directory.isDirectory("link"));
      assertEquals(List.of("link", "shm"), directory.names().stream().sorted().toList());
      assertEquals(
          Files.getFileStore(files).getTotalSpace(), directory.totalBytes(), "as the JDK says");
    }
  }

  /** Opening a pipe without a writer must not wait. */
  @Test
  void aPipeIsNoFile() throws Exception {
    try (OpenDirectory directory = made()) {
      Process mkfifo = new ProcessBuilder("mkfifo", directory.file("p").toString()).start();
      assertEquals(0, mkfifo.waitFor());
      for (boolean toWrite : new boolean[] {false, true}) {
        String message =
            assertThrows(FileSystemException.class, () -> directory.open("p", toWrite))
                .getMessage();
        assertTrue(message.contains("not a regular file"), message);
      }
    }
  }

  /** testbed/full-disks tries it on a file system that was shut down. */
  @Test
  void onlyAFileSystemsErrorIsAFailure() throws Exception {
    try (OpenDirectory directory = made()) {
      Files.createFile(files.resolve("store").resolve("file"));
      assertNull(directory.failure("file"));
      assertNull(directory.failure("no file"));
      assertNull(directory.failure("."));
    }
  }
}
