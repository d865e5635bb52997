package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file that gets its name, and then can't be mapped. */
final class MappedCreationTest {
  private static final int LENGTH = 3 << 20;

  @TempDir Path files;

  private static PersistentMemory make(MappedCreation creation) throws IOException {
    try (creation) {
      PersistentMemory memory = null;
      while (memory == null) {
        memory = creation.step();
      }
      return memory;
    }
  }

  /** It was in the way of every later file of that name. */
  @Test
  void aFileThatCanNotBeMappedLosesItsName() throws Exception {
    Path file = files.resolve("table-2");
    boolean[] named = new boolean[1];
    MappedCreation.Finish finish =
        () -> {
          named[0] = Files.exists(file);
          throw new IOException("Map failed");
        };
    try (OpenDirectory directory = OpenDirectory.open(files)) {
      MappedCreation creation =
          new MappedCreation(directory, "table-2", LENGTH, MappedFile.Kind.PAGE_CACHE, finish);
      IOException thrown = assertThrows(IOException.class, () -> make(creation));
      assertEquals("Map failed", thrown.getMessage());
    }
    assertEquals(true, named[0], "the fault comes behind the name");
    assertFalse(Files.exists(file));
    try (MappedDirectory directory = MappedDirectory.open(files);
        Creation again = directory.creating("table-2", LENGTH)) {
      PersistentMemory memory = null;
      while (memory == null) {
        memory = again.step();
      }
      assertEquals(LENGTH, memory.segment().byteSize());
    }
  }
}
