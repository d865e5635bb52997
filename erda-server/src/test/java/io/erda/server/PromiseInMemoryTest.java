package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store on a file system in memory never promises that puts survive power failure. */
class PromiseInMemoryTest {
  private static final Path MEMORY = Path.of("/dev/shm");
  private static final ServerOptions POWER = SmallStore.OPTIONS.withPromise(Promise.POWER);

  @TempDir Path disk;
  private Path memory;

  @BeforeEach
  void makeDirectory() throws IOException {
    assumeTrue(Files.isDirectory(MEMORY) && !Disk.holds(MEMORY), "no tmpfs is mounted there");
    memory = Files.createTempDirectory(MEMORY, "erda-test").resolve("data");
  }

  @AfterEach
  void removeDirectory() throws IOException {
    if (memory != null) {
      try (Stream<Path> files = Files.walk(memory.getParent())) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private String refused(ServerOptions options) {
    return assertThrows(
            ErdaException.Unusable.class, () -> ErdaServer.start(memory, options).close())
        .getMessage();
  }

  @Test
  void aNewStoreIsRefused() {
    String message = refused(POWER);
    assertTrue(message.contains(memory + " is on tmpfs"), message);
    assertTrue(message.contains("--promise process"), message);
    assertFalse(Files.exists(memory.resolve("superblock")), "a store was created");
    try (ErdaStore store = ErdaStore.open(memory, SmallStore.OPTIONS)) {
      assertEquals(Promise.PROCESS, store.promise());
    }
    assertTrue(refused(POWER).contains("tmpfs"), "one that is there");
  }

  @Test
  void aStoreThatRemembersThePromiseIsRefusedUntilItIsGivenUp() throws IOException {
    Disk.assumeHolds(disk);
    ErdaStore.open(disk, POWER).close();
    copy();
    String message = refused(SmallStore.OPTIONS);
    assertTrue(message.contains("tmpfs"), message);
    assertEquals(List.of(), StoreVerifier.verify(memory).findings());
    ErdaStore.open(memory, SmallStore.OPTIONS.withPromise(Promise.PROCESS)).close();
    try (ErdaStore store = ErdaStore.open(memory, SmallStore.OPTIONS)) {
      assertEquals(Promise.PROCESS, store.promise());
    }
  }

  private void copy() throws IOException {
    try (Stream<Path> files = Files.walk(disk)) {
      for (Path file : files.toList()) {
        Files.copy(file, memory.resolve(disk.relativize(file)));
      }
    }
  }
}
