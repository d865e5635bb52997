package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.erda.pmem.libc.Errno;
import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests of a directory of real files beyond the contract. */
final class MappedDirectoryTest {
  @TempDir Path files;

  @Test
  void opensOnlyADirectory() throws Exception {
    Path absent = files.resolve("absent");
    assertThrows(NoSuchFileException.class, () -> MappedDirectory.open(absent));
    assertFalse(Files.exists(absent));
    Path file = Files.createFile(files.resolve("file"));
    assertThrows(NotDirectoryException.class, () -> MappedDirectory.open(file));
  }

  private boolean isDax() throws IOException {
    try (OpenDirectory directory = OpenDirectory.open(files)) {
      return MappedFile.isDax(directory);
    }
  }

  private Backing backing(MappedDirectory directory, String name) {
    return new Backing(files.resolve(name).toAbsolutePath(), 0, 100, directory.opened());
  }

  @Test
  void openingAndLockingLeaveNoFile() throws Exception {
    try (MappedDirectory directory = MappedDirectory.open(files)) {
      assertTrue(directory.lock());
    }
    try (var left = Files.list(files)) {
      assertEquals(0, left.count());
    }
  }

  @Test
  void theModeDecidesWithoutPersistentMemory() throws Exception {
    assumeTrue(!isDax(), "this file system has MAP_SYNC");
    try (MappedDirectory directory = MappedDirectory.open(files)) {
      assertEquals(Survives.PROCESS_CRASH, directory.survives());
      assertFalse(directory.create("m", 8).visibleBeforeDurable());
    }
    assumeOnADisk();
    try (MappedDirectory directory = MappedDirectory.open(files, MappedDirectory.Mode.SYNCED)) {
      assertEquals(Survives.POWER_FAILURE, directory.survives());
      assertTrue(directory.open("m").visibleBeforeDurable());
    }
  }

  @Test
  void thePromiseCanBeChosenWhileNothingIsOpen() throws Exception {
    assumeTrue(!isDax(), "this file system has MAP_SYNC");
    assumeOnADisk();
    try (MappedDirectory directory = MappedDirectory.open(files)) {
      assertEquals(Survives.POWER_FAILURE, directory.promise(Survives.POWER_FAILURE));
      PersistentMemory memory = directory.create("m", 8);
      assertEquals(Survives.POWER_FAILURE, memory.survives());
      assertThrows(IllegalStateException.class, () -> directory.promise(Survives.PROCESS_CRASH));
      directory.makeDurable();
      memory.close();
      assertEquals(Survives.PROCESS_CRASH, directory.promise(Survives.PROCESS_CRASH));
      assertEquals(Survives.PROCESS_CRASH, directory.open("m").survives());
      directory.makeDurable();
    }
  }

  @Test
  void memoryThatIsMountedSurvivesNoPowerFailure() throws Exception {
    Path memory = Path.of("/dev/shm");
    assumeTrue(isTmpfs(memory), "no tmpfs is mounted there");
    Path there = Files.createTempDirectory(memory, "erda-test");
    try (MappedDirectory directory = MappedDirectory.open(there, MappedDirectory.Mode.SYNCED)) {
      assertEquals(Survives.PROCESS_CRASH, directory.survives());
      assertEquals(Survives.PROCESS_CRASH, directory.promise(Survives.POWER_FAILURE));
      assertTrue(directory.transience().contains(there + " is on tmpfs"), directory.transience());
    } finally {
      Files.delete(there);
    }
  }

  private void assumeOnADisk() throws IOException {
    assumeTrue(!isTmpfs(files), "files for tests are in memory here");
  }

  private static boolean isTmpfs(Path directory) throws IOException {
    return Files.isDirectory(directory) && Files.getFileStore(directory).type().equals("tmpfs");
  }

  @Test
  void theBackingIsTheFileAndFollowsIt() throws Exception {
    try (MappedDirectory directory = MappedDirectory.open(files)) {
      PersistentMemory memory = directory.create("a", 100);
      assertEquals(backing(directory, "a"), memory.backing());
      directory.rename("a", "b");
      directory.rename("b", "c");
      assertEquals(backing(directory, "c"), memory.backing());
      memory.putLongRelease(0, 7);
      assertEquals(7, Files.readAllBytes(memory.backing().file())[0]);
    }
  }

  @Test
  void whatCannotBeMappedIsRefused() throws Exception {
    Files.createFile(files.resolve("empty"));
    Files.createDirectory(files.resolve("directory"));
    try (MappedDirectory directory = MappedDirectory.open(files)) {
      String empty =
          assertThrows(FileSystemException.class, () -> directory.open("empty")).getMessage();
      assertTrue(empty.contains("empty") && empty.contains("0 bytes"), empty);
      String other =
          assertThrows(FileSystemException.class, () -> directory.open("directory")).getMessage();
      assertTrue(other.contains("not a regular file"), other);
      assertThrows(IOException.class, () -> directory.delete("directory"));
      assertThrows(IOException.class, () -> directory.rename("directory", "other"));
      assertTrue(Files.isDirectory(files.resolve("directory")));
      assertThrows(FileAlreadyExistsException.class, () -> directory.create("directory", 8));
      assertFalse(directory.exists("directory"));
      assertEquals(List.of("empty"), directory.names());
    }
  }

  /** Found by a stranger: its allocation took all space of the file system, and kept it. */
  @Test
  void aFileThatNothingCanHoldTakesNoSpace() throws Exception {
    try (MappedDirectory directory = MappedDirectory.open(files)) {
      directory.create("memory", 4096).close();
      long before = directory.opened().status("memory").allocatedBytes();
      try (RandomAccessFile file = new RandomAccessFile(files.resolve("memory").toFile(), "rw")) {
        file.setLength(1L << 43);
      } catch (IOException e) {
        assumeTrue(false, "no file can be as long here: " + e);
      }
      OutOfSpaceException refused =
          assertThrows(OutOfSpaceException.class, () -> directory.open("memory"));
      assertTrue(refused.getMessage().contains("has holes of "), refused.getMessage());
      assertEquals(before, directory.opened().status("memory").allocatedBytes());
    }
  }

  @Test
  void foreignFilesAreNotListed() throws Exception {
    Files.createFile(files.resolve("README"));
    try (MappedDirectory directory = MappedDirectory.open(files)) {
      assertEquals(List.of(), directory.names());
    }
  }

  @Test
  void isUselessOnceClosed() throws Exception {
    MappedDirectory directory = MappedDirectory.open(files);
    directory.close();
    assertThrows(IllegalStateException.class, () -> directory.create("m", 8));
    assertThrows(IllegalStateException.class, () -> directory.open("m"));
    assertThrows(IllegalStateException.class, directory::names);
    assertThrows(IllegalStateException.class, directory::lock);
    assertThrows(IllegalStateException.class, directory::sync);
    assertFalse(Files.exists(files.resolve("m")));
  }

  /** Tests the way of creating files on a file system without nameless files. */
  @Test
  void createsUnderTheNameWhereItMust() throws Exception {
    Path file = files.resolve("named");
    try (OpenDirectory directory = OpenDirectory.open(files)) {
      MappedFile.createNamed(directory, "named", 10_000, MappedFile.Kind.SYNCED);
      assertArrayEquals(new byte[10_000], Files.readAllBytes(file));
      assertThrows(
          FileAlreadyExistsException.class,
          () -> MappedFile.createNamed(directory, "named", 1, MappedFile.Kind.SYNCED));
      assertThrows(
          OutOfSpaceException.class,
          () -> MappedFile.createNamed(directory, "x", 1L << 60, MappedFile.Kind.SYNCED));
      assertFalse(Files.exists(files.resolve("x")));
      assertEquals(10_000, Files.size(file));
    }
  }

  /** Tests the way of creating files on a file system without fallocate. */
  @Test
  void writesZerosWhereItMust() throws Exception {
    Path file = Files.createFile(files.resolve("zeros"));
    int descriptor = Libc.open(file, Libc.O_RDWR);
    try {
      MappedFile.writeZeros(descriptor, file, (3 << 20) + 5);
    } finally {
      Libc.close(descriptor);
    }
    assertArrayEquals(new byte[(3 << 20) + 5], Files.readAllBytes(file));
  }

  @Test
  void errorsNameCallFileAndReason() {
    Path file = files.resolve("f");
    String message =
        assertThrows(
                IOException.class, () -> FileErrors.check("flock", Errno.EINVAL.result(), file))
            .getMessage();
    assertEquals(file + ": flock: Invalid argument (errno 22)", message);
  }

  @ParameterizedTest
  @EnumSource(MappedDirectory.Mode.class)
  void mapsMoreThanTwoGibibytes(MappedDirectory.Mode mode) throws Exception {
    long length = 3L << 30;
    assumeTrue(
        Files.getFileStore(files).getUsableSpace() > 2 * length, "not enough room for 3 GiB");
    try (MappedDirectory directory = MappedDirectory.open(files, mode)) {
      PersistentMemory memory = directory.create("large", length);
      long[] places = {0, (2L << 30) - 8, 2L << 30, (2L << 30) + 4096, length - 8};
      for (long at : places) {
        memory.putLongRelease(at, at + 1);
        memory.flush(at, 8);
      }
      memory.put((2L << 30) - 100, MemorySegment.ofArray(new byte[50]).fill((byte) 9), 0, 50);
      memory.flush((2L << 30) - 100, 50);
      memory.drain();
      memory.close();
      memory = directory.open("large");
      assertEquals(length, memory.segment().byteSize());
      for (long at : places) {
        assertEquals(at + 1, (long) SegmentMemory.LONG.getAcquire(memory.segment(), at));
      }
      assertEquals(9, memory.segment().get(ValueLayout.JAVA_BYTE, (2L << 30) - 51));
      assertEquals(0, memory.segment().get(ValueLayout.JAVA_BYTE, (2L << 30) - 50));
    }
  }
}
