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
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The tests that every {@link MemoryDirectory} must pass. A subclass makes the directories. */
public abstract class MemoryDirectoryContract {
  private final List<MemoryDirectory> opened = new ArrayList<>();

  /**
   * Opens the one directory of this test, empty the first time, once more: as another process
   * would. The suite closes what it gets.
   */
  protected abstract MemoryDirectory openDirectory() throws Exception;

  private MemoryDirectory directory() throws Exception {
    MemoryDirectory directory = openDirectory();
    opened.add(directory);
    return directory;
  }

  @AfterEach
  final void closeDirectories() {
    opened.forEach(MemoryDirectory::close);
  }

  @Test
  final void createsZeros() throws Exception {
    MemoryDirectory directory = directory();
    for (int length : new int[] {1, 8, 4096, 70_001}) {
      try (PersistentMemory memory = directory.create("m" + length, length)) {
        assertEquals(length, memory.segment().byteSize());
        assertEquals(length, memory.backing().length());
        assertEquals(directory.survives(), memory.survives());
        assertArrayEquals(new byte[length], memory.segment().toArray(ValueLayout.JAVA_BYTE));
      }
    }
  }

  @Test
  final void createsInSteps() throws Exception {
    MemoryDirectory directory = directory();
    int length = (3 << 20) + 8;
    try (Creation creation = directory.creating("m", length)) {
      PersistentMemory memory = creation.step();
      while (memory == null) {
        assertFalse(directory.exists("m"));
        memory = creation.step();
      }
      assertEquals(List.of("m"), directory.names());
      assertEquals(length, memory.segment().byteSize());
      assertEquals(-1, memory.segment().mismatch(MemorySegment.ofArray(new byte[length])));
      memory.putLongRelease(length - 8, 7);
      assertEquals(7, memory.segment().get(ValueLayout.JAVA_LONG, length - 8));
    }
    try (Creation taken = directory.creating("m", 8)) {
      assertThrows(
          FileAlreadyExistsException.class,
          () -> {
            while (taken.step() == null) {}
          });
    }
  }

  @Test
  final void aCreationThatIsGivenUpLeavesNothing() throws Exception {
    MemoryDirectory directory = directory();
    Creation creation = directory.creating("m", 3 << 20);
    PersistentMemory memory = creation.step();
    creation.close();
    creation.close();
    assertEquals(memory == null ? List.of() : List.of("m"), directory.names());
  }

  @Test
  final void discardedBytesCanStillBeRead() throws Exception {
    MemoryDirectory directory = directory();
    PersistentMemory memory = create(directory, "m", 7);
    directory.delete("m");
    memory.discard(0, memory.segment().byteSize());
    memory.segment().get(ValueLayout.JAVA_LONG, 0);
    memory.close();
  }

  @Test
  final void creatingWhatExistsChangesNothing() throws Exception {
    MemoryDirectory directory = directory();
    PersistentMemory memory = create(directory, "taken", 7);
    assertThrows(FileAlreadyExistsException.class, () -> directory.create("taken", 128));
    assertEquals(7, word(memory));
    assertEquals(64, directory.open("taken").segment().byteSize());
    assertEquals(List.of("taken"), directory.names());
  }

  @Test
  final void opensWhatWasStored() throws Exception {
    MemoryDirectory first = directory();
    create(first, "kept", 7).close();
    first.sync();
    assertEquals(7, word(first.open("kept")));
    first.close();
    assertEquals(7, word(directory().open("kept")));
  }

  @Test
  final void openingsShareTheirBytes() throws Exception {
    MemoryDirectory first = directory();
    PersistentMemory one = create(first, "shared", 1);
    PersistentMemory two = directory().open("shared");
    assertEquals(1, word(two));
    one.putLongRelease(0, 2);
    assertEquals(2, word(two));
    two.putLongRelease(0, 3);
    assertEquals(3, word(one));
  }

  @Test
  final void openingWhatIsNotThereFails() throws Exception {
    MemoryDirectory directory = directory();
    assertThrows(NoSuchFileException.class, () -> directory.open("absent"));
    assertEquals(List.of(), directory.names());
  }

  @Test
  final void deletedMemoryStaysMapped() throws Exception {
    MemoryDirectory directory = directory();
    PersistentMemory old = create(directory, "gone", 1);
    directory.delete("gone");
    directory.delete("gone");
    assertFalse(directory.exists("gone"));
    assertThrows(NoSuchFileException.class, () -> directory.open("gone"));
    PersistentMemory young = create(directory, "gone", 2);
    old.putLongRelease(0, 3);
    old.flush(0, 8);
    old.drain();
    assertEquals(2, word(young));
    assertEquals(3, word(old));
  }

  @Test
  final void lengtheningAddsZeros() throws Exception {
    MemoryDirectory directory = directory();
    try (PersistentMemory memory = directory.create("a", 4096)) {
      memory.putLongRelease(4088, 5);
      memory.flush(4088, 8);
      memory.drain();
    }
    directory.lengthen("a", 3 * 4096 + 64);
    try (PersistentMemory memory = directory.open("a")) {
      assertEquals(3 * 4096 + 64, memory.segment().byteSize());
      assertEquals(5, memory.segment().get(ValueLayout.JAVA_LONG, 4088));
      assertEquals(0, memory.segment().get(ValueLayout.JAVA_LONG, 3 * 4096 + 56));
    }
    assertEquals(List.of("a"), directory.names());
    assertThrows(IOException.class, () -> directory.lengthen("b", 4096));
    assertEquals(List.of("a"), directory.names());
  }

  @Test
  final void renameReplaces() throws Exception {
    MemoryDirectory directory = directory();
    PersistentMemory one = create(directory, "one", 1);
    PersistentMemory two = create(directory, "two", 2);
    directory.rename("one", "two");
    directory.sync();
    assertEquals(List.of("two"), directory.names());
    assertEquals(1, word(directory.open("two")));
    assertEquals(2, word(two));
    one.putLongRelease(0, 3);
    assertEquals(3, word(directory.open("two")));
    assertThrows(NoSuchFileException.class, () -> directory.rename("one", "two"));
    assertEquals(List.of("two"), directory.names());
  }

  @Test
  final void renamingToItselfChangesNothing() throws Exception {
    MemoryDirectory directory = directory();
    create(directory, "same", 5).close();
    directory.rename("same", "same");
    assertEquals(5, word(directory.open("same")));
  }

  @Test
  final void namesAreSorted() throws Exception {
    MemoryDirectory directory = directory();
    assertEquals(List.of(), directory.names());
    for (String name : List.of("region-10", "b", "a.b", "region-1", "0", ".hidden")) {
      create(directory, name, 1).close();
      assertTrue(directory.exists(name));
    }
    List<String> sorted = List.of(".hidden", "0", "a.b", "b", "region-1", "region-10");
    assertEquals(sorted, directory.names());
    assertEquals(sorted, directory().names());
  }

  @Test
  final void badNamesAreRefusedEverywhere() throws Exception {
    MemoryDirectory directory = directory();
    create(directory, "good", 1).close();
    List<String> bad =
        List.of(
            "", ".", "..", "a/b", "/", "../good", "A", "a b", "a_b", "a\0b", "é", "a".repeat(256));
    for (String name : bad) {
      assertRefused(() -> directory.create(name, 64));
      assertRefused(() -> directory.open(name));
      assertRefused(() -> directory.delete(name));
      assertRefused(() -> directory.exists(name));
      assertRefused(() -> directory.rename(name, "good"));
      assertRefused(() -> directory.rename("good", name));
    }
    assertEquals(List.of("good"), directory.names());
    create(directory, "a".repeat(255), 1);
  }

  @Test
  final void badLengthsAreRefused() throws Exception {
    MemoryDirectory directory = directory();
    assertRefused(() -> directory.create("empty", 0));
    assertRefused(() -> directory.create("negative", -1));
    assertEquals(List.of(), directory.names());
  }

  @Test
  final void whatDoesNotFitLeavesNothingBehind() throws Exception {
    MemoryDirectory directory = directory();
    long length = 1L << 60;
    IOException e = assertThrows(OutOfSpaceException.class, () -> directory.create("huge", length));
    assertTrue(e.getMessage().contains("huge"), e.getMessage());
    assertTrue(e.getMessage().contains(Long.toString(length)), e.getMessage());
    assertFalse(directory.exists("huge"));
    assertEquals(List.of(), directory.names());
    create(directory, "huge", 1);
  }

  @Test
  final void oneOwnerAtATime() throws Exception {
    MemoryDirectory first = directory();
    MemoryDirectory second = directory();
    assertTrue(first.lock());
    assertTrue(first.lock());
    assertFalse(second.lock());
    assertFalse(second.lock());
    assertEquals(List.of(), first.names());
    first.close();
    assertTrue(second.lock());
    assertFalse(directory().lock());
  }

  @Test
  final void closingWithoutTheLockReleasesNothing() throws Exception {
    MemoryDirectory first = directory();
    MemoryDirectory second = directory();
    assertTrue(first.lock());
    assertFalse(second.lock());
    second.close();
    assertFalse(directory().lock());
  }

  @Test
  final void closeClosesWhatIsOpen() throws Exception {
    MemoryDirectory directory = directory();
    PersistentMemory early = create(directory, "early", 1);
    PersistentMemory late = create(directory, "late", 1);
    PersistentMemory again = directory.open("late");
    early.close();
    directory.close();
    directory.close();
    for (PersistentMemory memory : List.of(early, late, again)) {
      memory.close();
      assertThrows(IllegalStateException.class, () -> memory.putLongRelease(0, 1));
    }
  }

  /** 64 bytes, whose first word is stored and durable. */
  private static PersistentMemory create(MemoryDirectory directory, String name, long word)
      throws IOException {
    PersistentMemory memory = directory.create(name, 64);
    memory.putLongRelease(0, word);
    memory.flush(0, 8);
    memory.drain();
    return memory;
  }

  private static long word(PersistentMemory memory) {
    return (long) SegmentMemory.LONG.getAcquire(memory.segment(), 0L);
  }

  private static void assertRefused(Executable action) {
    assertThrows(IllegalArgumentException.class, action);
  }
}
