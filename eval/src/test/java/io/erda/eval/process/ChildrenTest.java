package io.erda.eval.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Temporary directories that are removed together with the processes. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ChildrenTest {
  private static final int WRITERS = 16;

  /** More than they can make while a directory is removed: they end because it is gone. */
  private static final int FILES_MAX = 50_000;

  @TempDir private Path parent;

  /** A run that is ended by a signal has threads that go on until its JVM is gone. */
  @RepeatedTest(2)
  void directoriesAreRemovedWhileSomebodyStillWrites() throws Exception {
    Children children = new Children();
    children.temporaryDirectory(parent, "first-");
    Path busy = children.temporaryDirectory(parent, "busy-");
    CountDownLatch begun = new CountDownLatch(WRITERS);
    List<Thread> writers = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      String name = "writer-" + i + "-";
      writers.add(new Thread(() -> write(busy, name, begun)));
    }
    writers.forEach(Thread::start);
    begun.await();
    children.close();
    for (Thread writer : writers) {
      writer.join();
    }
    try (Stream<Path> left = Files.list(parent)) {
      assertEquals(List.of(), left.toList());
    }
  }

  @Test
  void oneThatIsGoneIsNoFailure() throws IOException {
    Children children = new Children();
    Path kept = children.temporaryDirectory(parent, "kept-");
    Path gone = children.temporaryDirectory(parent, "gone-");
    children.keep(kept);
    Files.delete(gone);
    children.close();
    assertTrue(Files.exists(kept));
  }

  private static void write(Path directory, String name, CountDownLatch begun) {
    try {
      for (int i = 0; i < FILES_MAX; i++) {
        Files.createFile(directory.resolve(name + i));
        if (i == 0) {
          begun.countDown();
        }
      }
    } catch (NoSuchFileException e) {
      // The directory is gone: so it must be.
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
