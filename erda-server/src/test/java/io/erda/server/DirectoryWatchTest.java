package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.erda.pmem.MappedDirectory;
import io.erda.server.engine.service.Loss;
import io.erda.testing.Threads;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file system that was shut down; a real one is in testbed/full-disks. */
class DirectoryWatchTest {
  private static final String ERROR = "superblock: open: Input/output error (errno 5)";

  @TempDir Path data;

  /** Fails at every second check, and from some time on at each. */
  private static final class Failing implements Supplier<String> {
    private final CountDownLatch checks = new CountDownLatch(6);
    private int count;
    private volatile boolean always;

    @Override
    public String get() {
      checks.countDown();
      return count++ % 2 == 0 || always ? ERROR : null;
    }
  }

  @Test
  void aFailureThatLastsIsALossAndASingleOneIsNot() throws Exception {
    Failing failing = new Failing();
    CountDownLatch woken = new CountDownLatch(1);
    MappedDirectory directory = MappedDirectory.open(data);
    try (NamedFiles files = new NamedFiles(directory, directory.opened());
        DirectoryWatch watch =
            new DirectoryWatch(
                directory.opened(),
                files,
                new OtherOpening(directory.opened()),
                failing,
                woken::countDown,
                new Failures())) {
      assertTrue(failing.checks.await(1, TimeUnit.MINUTES));
      assertNull(watch.loss());
      failing.always = true;
      assertTrue(woken.await(1, TimeUnit.MINUTES));
      assertEquals(Loss.Of.BYTES, watch.loss().of());
      assertTrue(
          watch.loss().words().startsWith("the file system of the store failed: " + ERROR + "; "),
          watch.loss().words());
    }
  }

  /** A server whose path led over a network that did not answer could not be ended. */
  @Test
  void theEndDoesNotWaitForACheckThatDoesNotEnd() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch answer = new CountDownLatch(1);
    MappedDirectory directory = MappedDirectory.open(data);
    try (NamedFiles files = new NamedFiles(directory, directory.opened())) {
      DirectoryWatch watch =
          new DirectoryWatch(
              directory.opened(),
              files,
              new OtherOpening(directory.opened()),
              () -> {
                begun.countDown();
                Threads.await(answer);
                return ERROR;
              },
              () -> fail("a watch that was closed has woken the server"),
              new Failures());
      assertTrue(begun.await(1, TimeUnit.MINUTES));
      assertTimeoutPreemptively(Duration.ofSeconds(30), watch::close);
      assertTrue(watch.isUnanswered());
      assertNull(watch.loss());
    } finally {
      answer.countDown();
    }
  }
}
