package io.erda.verbs;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * The watcher wakes the thread for an event, and again after that was answered. A pipe replaces the
 * hardware.
 */
@EnabledOnOs(OS.LINUX)
class WatcherTest {
  private static final Path FDS = Path.of("/proc/self/fd");

  private final Semaphore rings = new Semaphore(0);
  private Pipe pipe;
  private Watcher watcher;

  @BeforeEach
  void open() throws IOException {
    Set<String> before = pipes();
    pipe = Pipe.open();
    Set<String> made = pipes();
    made.removeAll(before);
    int readable = -1;
    for (String fd : made) {
      if (!isWritable(fd)) {
        readable = Integer.parseInt(fd);
      }
    }
    watcher = new Watcher(rings::release, error -> {}, readable);
  }

  private static boolean isWritable(String fd) throws IOException {
    String info = Files.readString(Path.of("/proc/self/fdinfo", fd));
    String flags = info.lines().filter(l -> l.startsWith("flags:")).findFirst().orElseThrow();
    return flags.endsWith("1") || flags.endsWith("2");
  }

  private static Set<String> pipes() throws IOException {
    Set<String> all = new HashSet<>();
    try (DirectoryStream<Path> fds = Files.newDirectoryStream(FDS)) {
      for (Path fd : fds) {
        if (Files.isSymbolicLink(fd) && isPipe(fd)) {
          all.add(fd.getFileName().toString());
        }
      }
    }
    return all;
  }

  private static boolean isPipe(Path fd) {
    try {
      return Files.readSymbolicLink(fd).toString().startsWith("pipe:");
    } catch (IOException e) {
      return false; // The one that the list itself is read by.
    }
  }

  @AfterEach
  void close() throws IOException {
    watcher.close();
    pipe.sink().close();
    pipe.source().close();
  }

  private void send() throws IOException {
    pipe.sink().write(ByteBuffer.allocate(1));
  }

  private void take() throws IOException {
    pipe.source().read(ByteBuffer.allocate(16));
  }

  private boolean rang() throws InterruptedException {
    return rings.tryAcquire(20, TimeUnit.SECONDS);
  }

  @Test
  void itRingsOnceUntilItIsAnswered() throws IOException, InterruptedException {
    send();
    assertTrue(rang());
    assertTrue(watcher.isRung());
    send();
    assertFalse(rings.tryAcquire(100, TimeUnit.MILLISECONDS));

    take();
    watcher.answered();
    assertFalse(watcher.isRung());
    assertFalse(rings.tryAcquire(100, TimeUnit.MILLISECONDS));
  }

  @Test
  void whatCameBetweenTakingAndAnsweringRingsAgain() throws IOException, InterruptedException {
    send();
    assertTrue(rang());
    take();
    send();
    watcher.answered();
    assertTrue(rang());
  }

  @Test
  void everyOneOfManyIsHeard() throws IOException, InterruptedException {
    for (int i = 0; i < 1000; i++) {
      send();
      assertTrue(rang(), "round " + i);
      take();
      watcher.answered();
    }
  }
}
