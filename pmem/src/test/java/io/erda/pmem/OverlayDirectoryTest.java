package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Changes through an overlay are visible through it, and nowhere else. */
final class OverlayDirectoryTest {
  @TempDir Path files;

  private static final byte[] BYTES = new byte[10_000];

  @Test
  void storesStayInTheOverlay() throws IOException {
    Files.write(files.resolve("a"), BYTES);
    try (OverlayDirectory overlay = OverlayDirectory.open(files)) {
      PersistentMemory memory = overlay.open("a");
      assertEquals(BYTES.length, memory.segment().byteSize());
      memory.putLongRelease(8, 7);
      memory.put(9_000, MemorySegment.ofArray(new byte[] {1, 2, 3}), 0, 3);
      memory.populate(0, BYTES.length);
      memory.discard(0, BYTES.length);
      memory.flush(0, BYTES.length);
      memory.drain();
      memory.close();
      MemorySegment again = overlay.open("a").segment();
      assertEquals(7, again.get(ValueLayout.JAVA_LONG, 8));
      assertEquals(3, again.get(ValueLayout.JAVA_BYTE, 9_002));
    }
    assertArrayEquals(BYTES, Files.readAllBytes(files.resolve("a")));
    try (OverlayDirectory overlay = OverlayDirectory.open(files)) {
      assertEquals(0, overlay.open("a").segment().get(ValueLayout.JAVA_LONG, 8));
    }
  }

  @Test
  void soDoNames() throws IOException {
    Files.write(files.resolve("a"), new byte[] {1});
    Files.write(files.resolve("b"), new byte[] {2});
    Files.write(files.resolve("c"), new byte[] {3});
    try (OverlayDirectory overlay = OverlayDirectory.open(files)) {
      overlay.delete("a");
      overlay.delete("a");
      overlay.rename("b", "c");
      PersistentMemory made = overlay.create("d", 64);
      made.putLongRelease(0, 4);
      assertEquals(List.of("c", "d"), overlay.names());
      assertFalse(overlay.exists("a"));
      assertThrows(NoSuchFileException.class, () -> overlay.open("a"));
      assertThrows(FileAlreadyExistsException.class, () -> overlay.create("c", 8));
      assertEquals(2, overlay.open("c").segment().get(ValueLayout.JAVA_BYTE, 0));
      assertEquals(4, overlay.open("d").segment().get(ValueLayout.JAVA_LONG, 0));
    }
    try (Stream<Path> names = Files.list(files)) {
      assertEquals(List.of("a", "b", "c"), names.map(this::name).sorted().toList());
    }
    assertArrayEquals(new byte[] {3}, Files.readAllBytes(files.resolve("c")));
  }

  private String name(Path file) {
    return files.relativize(file).toString();
  }

  @Test
  void whoLooksExcludesOwnersOnly() throws IOException {
    try (MappedDirectory owner = MappedDirectory.open(files);
        OverlayDirectory early = OverlayDirectory.open(files)) {
      assertTrue(owner.lock());
      assertFalse(early.lock());
    }
    OverlayDirectory one = OverlayDirectory.open(files);
    OverlayDirectory two = OverlayDirectory.open(files);
    try (MappedDirectory owner = MappedDirectory.open(files)) {
      assertTrue(one.lock());
      assertTrue(one.lock());
      assertTrue(two.lock());
      assertFalse(owner.lock());
      one.close();
      assertFalse(owner.lock());
      two.close();
      assertTrue(owner.lock());
    }
  }

  @Test
  void whatCannotBeMappedIsRefused() throws IOException {
    assertThrows(NoSuchFileException.class, () -> OverlayDirectory.open(files.resolve("absent")));
    Path file = Files.createFile(files.resolve("empty"));
    Files.createDirectory(files.resolve("directory"));
    assertThrows(NotDirectoryException.class, () -> OverlayDirectory.open(file));
    try (OverlayDirectory overlay = OverlayDirectory.open(files)) {
      String empty =
          assertThrows(FileSystemException.class, () -> overlay.open("empty")).getMessage();
      assertTrue(empty.contains("empty") && empty.contains("0 bytes"), empty);
      String other =
          assertThrows(FileSystemException.class, () -> overlay.open("directory")).getMessage();
      assertTrue(other.contains("not a regular file"), other);
      assertThrows(OutOfSpaceException.class, () -> overlay.create("huge", 1L << 60));
      assertEquals(List.of("empty"), overlay.names());
    }
  }

  @Test
  void isUselessOnceClosed() throws IOException {
    Files.write(files.resolve("a"), BYTES);
    OverlayDirectory overlay = OverlayDirectory.open(files);
    PersistentMemory memory = overlay.open("a");
    overlay.close();
    overlay.close();
    assertThrows(IllegalStateException.class, () -> memory.putLongRelease(0, 1));
    assertThrows(IllegalStateException.class, () -> overlay.open("a"));
    assertThrows(IllegalStateException.class, overlay::lock);
  }
}
