package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** All files are found in the directory that was opened, whatever happens to its name. */
final class MovedDirectoryTest {
  private static final int LENGTH = 8192;

  @TempDir Path files;

  /** The path by which the directory is opened, and its path after it was moved. */
  private Path name;

  private Path moved;

  /** The changes of the name of an open directory. */
  enum Move {
    /** The directory is renamed, and nothing has its name. */
    RENAMED,
    /** An empty directory has the name. */
    REPLACED_BY_AN_EMPTY_ONE,
    /** A directory with files of the same names has the name. */
    REPLACED,
    /** The name was a symbolic link, which leads to a directory with files of the same names. */
    LINK_POINTED_ELSEWHERE
  }

  @BeforeEach
  void makeNames() {
    name = files.resolve("store");
    moved = files.resolve("moved");
  }

  private void make(Move move) throws IOException {
    Path at = move == Move.LINK_POINTED_ELSEWHERE ? moved : name;
    Files.createDirectory(at);
    if (move == Move.LINK_POINTED_ELSEWHERE) {
      Files.createSymbolicLink(name, moved);
    }
  }

  private void move(Move move) throws IOException {
    if (move == Move.LINK_POINTED_ELSEWHERE) {
      Path elsewhere = fill(Files.createDirectory(files.resolve("elsewhere")));
      Files.createSymbolicLink(files.resolve("link"), elsewhere);
      Files.move(files.resolve("link"), name, StandardCopyOption.ATOMIC_MOVE);
      return;
    }
    Files.move(name, moved);
    if (move != Move.RENAMED) {
      Files.createDirectory(name);
    }
    if (move == Move.REPLACED) {
      fill(name);
    }
  }

  private static Path fill(Path directory) throws IOException {
    for (String each : List.of("a", "b", "c", "d")) {
      Files.writeString(directory.resolve(each), "of another store: " + each);
    }
    return directory;
  }

  private static Map<String, String> contents(Path directory) throws IOException {
    Map<String, String> contents = new TreeMap<>();
    if (Files.isDirectory(directory)) {
      try (Stream<Path> all = Files.list(directory)) {
        for (Path each : all.toList()) {
          contents.put(each.getFileName().toString(), Files.readString(each));
        }
      }
    }
    return contents;
  }

  @ParameterizedTest
  @EnumSource
  void everythingHappensInTheDirectoryThatWasOpened(Move move) throws Exception {
    make(move);
    try (MappedDirectory directory = MappedDirectory.open(name, MappedDirectory.Mode.SYNCED)) {
      assertTrue(directory.lock());
      PersistentMemory a = directory.create("a", LENGTH);
      directory.create("b", LENGTH).close();
      Creation begun = directory.creating("d", LENGTH);
      move(move);
      Map<String, String> others = contents(name);

      directory.create("c", LENGTH).putLongRelease(0, 3);
      PersistentMemory d = begun.step();
      while (d == null) {
        d = begun.step();
      }
      begun.close();
      assertEquals(LENGTH, directory.open("b").segment().byteSize());
      assertEquals(List.of("a", "b", "c", "d"), directory.names());
      assertEquals(LENGTH, Files.size(moved.resolve("a")));
      directory.delete("b");
      assertFalse(directory.exists("b"));
      directory.rename("a", "e");
      a.putLongRelease(0, 1);
      a.flush(0, 8);
      a.drain();
      directory.syncNames();
      directory.makeDurable();

      assertEquals(List.of("c", "d", "e"), directory.names());
      assertEquals(1, Files.readAllBytes(moved.resolve("e"))[0]);
      assertEquals(3, Files.readAllBytes(moved.resolve("c"))[0]);
      assertEquals(others, contents(name), "what has the name now is somebody else's");
    }
  }

  /** An inspector of a store sees the store whose lock it has. */
  @ParameterizedTest
  @EnumSource
  void whoeverLooksSeesTheDirectoryThatWasOpened(Move move) throws Exception {
    make(move);
    try (MappedDirectory directory = MappedDirectory.open(name)) {
      directory.create("a", LENGTH).putLongRelease(0, 7);
    }
    try (OverlayDirectory directory = OverlayDirectory.open(name)) {
      assertTrue(directory.lock());
      move(move);
      assertEquals(List.of("a"), directory.names());
      PersistentMemory a = directory.open("a");
      assertEquals(LENGTH, a.segment().byteSize());
      assertEquals(7, a.segment().get(ValueLayout.JAVA_BYTE, 0));
    }
  }

  @Test
  void aRemovedDirectoryTakesNothingMore() throws Exception {
    Files.createDirectory(name);
    try (MappedDirectory directory = MappedDirectory.open(name)) {
      assertTrue(directory.lock());
      PersistentMemory a = directory.create("a", LENGTH);
      Creation begun = directory.creating("d", LENGTH);
      Files.delete(name.resolve("a"));
      Files.delete(name);
      Files.createDirectory(name);
      a.putLongRelease(0, 1);
      String message =
          assertThrows(NoSuchFileException.class, () -> directory.create("b", LENGTH)).getMessage();
      assertTrue(message.contains(name.resolve("b").toString()), message);
      assertThrows(
          IOException.class,
          () -> {
            while (begun.step() == null) {}
          });
      assertThrows(NoSuchFileException.class, () -> directory.open("a"));
      assertFalse(directory.exists("a"));
      directory.delete("a");
    }
    assertEquals(Map.of(), contents(name));
  }

  /** A link in the place of a file leads to somebody else's file. */
  @Test
  void aLinkInsteadOfAFileIsNotFollowed() throws Exception {
    Files.createDirectory(name);
    Path other = Files.writeString(files.resolve("other"), "somebody else's");
    try (MappedDirectory directory = MappedDirectory.open(name)) {
      directory.create("a", LENGTH).close();
      Files.createSymbolicLink(name.resolve("l"), other);
      assertFalse(directory.exists("l"));
      assertEquals(List.of("a"), directory.names());
      String message =
          assertThrows(FileSystemException.class, () -> directory.open("l")).getMessage();
      assertTrue(message.contains("symbolic link"), message);
      assertThrows(IOException.class, () -> directory.create("l", LENGTH));
      directory.rename("a", "l");
      assertEquals(List.of("l"), directory.names());
      assertEquals("somebody else's", Files.readString(other));
      Files.createSymbolicLink(name.resolve("m"), other);
      directory.delete("m");
      assertEquals("somebody else's", Files.readString(other));
    }
  }
}
