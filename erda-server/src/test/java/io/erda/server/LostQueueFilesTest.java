package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store that was moved without its {@code shm/}, whose queue files tell which clients of earlier
 * servers live. Such a client may have been stopped in the middle of a put, and has the files of
 * the store mapped, so none of them may become another region's.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LostQueueFilesTest {
  private static final ServerOptions OPTIONS =
      ServerOptions.DEFAULTS
          .withRegionBytes(1 << 18)
          .withSegmentBytes(1 << 16)
          .withCapacityBytes(1 << 24)
          .withBuckets(1 << 10);

  private static final int KEYS = 100;
  private static final int CLEANINGS = 20;

  @TempDir Path directory;

  private Path data() {
    return directory.resolve("data");
  }

  private Path shm() {
    return data().resolve("shm");
  }

  /** Overwrites objects, and returns how many files became another region's meanwhile. */
  private long reusedByAnApplication() {
    try (ErdaStore store = ErdaStore.open(data(), OPTIONS);
        ErdaClient erda = store.client()) {
      return reused(erda);
    }
  }

  private long reusedByAServer() throws InterruptedException {
    try (ErdaServer server = ErdaServer.start(data(), OPTIONS);
        ErdaClient erda = ErdaClient.connect(server.uri())) {
      return reused(erda);
    }
  }

  private static long reused(ErdaClient erda) {
    byte[] value = new byte[1000];
    for (int i = 0; erda.stats().get("cleaner.cleanings") < CLEANINGS; i++) {
      for (int key = 0; key < KEYS; key++) {
        erda.put(ByteBuffer.allocate(8).putLong(key).array(), value);
      }
    }
    return erda.stats().get("cleaner.regions.reused");
  }

  private void removeShm() throws IOException {
    for (Path file : list(shm())) {
      Files.delete(file);
    }
    Files.delete(shm());
  }

  private static List<Path> list(Path of) throws IOException {
    try (Stream<Path> files = Files.list(of)) {
      return files.toList();
    }
  }

  @Test
  void whereShmIsGoneNoFileBecomesAnotherRegions() throws Exception {
    assertTrue(reusedByAnApplication() > 0, "an ordinary application uses files again");
    assertTrue(reusedByAnApplication() > 0, "and so does the next one");
    removeShm();
    assertEquals(0, reusedByAnApplication(), "shm/ was gone");
    assertEquals(0, reusedByAServer(), "its clients may still live when the store is opened again");
    assertTrue(reusedInTheNextBoot() > 0, "no client outlives its host's kernel");
  }

  @Test
  void aServersShmThatIsGoneIsNoticedByAServer() throws Exception {
    assertTrue(reusedByAServer() > 0, "an ordinary server uses files again");
    assertTrue(reusedByAServer() > 0, "and so does the next one");
    removeShm();
    assertEquals(0, reusedByAServer(), "shm/ was gone");
    assertEquals(0, reusedByAnApplication(), "its clients may still live");
  }

  /** The directory of a file that was emptied tells as little as one that is gone. */
  @Test
  void anEmptyShmIsOneThatIsGone() throws Exception {
    assertTrue(reusedByAServer() > 0, "an ordinary server uses files again");
    removeShm();
    Files.createDirectory(shm());
    assertEquals(0, reusedByAServer(), "shm/ was empty");
  }

  /** As in a container with an ID of its own for the boot. */
  @Test
  void anotherIdOfThisBootIsNoOtherBoot() throws Exception {
    assertTrue(reusedByAServer() > 0, "an ordinary server uses files again");
    removeShm();
    assertEquals(0, reusedByAServer(), "shm/ was gone");
    renameNote();
    assertEquals(0, reusedByAServer(), "its clients may still live");
  }

  private long reusedInTheNextBoot() throws Exception {
    Files.setLastModifiedTime(renameNote(), FileTime.fromMillis(0));
    return reusedByAServer();
  }

  private Path renameNote() throws Exception {
    Path note =
        list(shm()).stream()
            .filter(file -> file.getFileName().toString().startsWith("lost-"))
            .findAny()
            .orElseThrow();
    return Files.move(note, shm().resolve("lost-in-another-boot"));
  }
}
