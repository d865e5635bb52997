package io.erda.rdma.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.rdma.ShmFixture;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A connection that fails while it is made leaves the server's directory as it was. */
final class QueueFileTest {
  @TempDir private Path data;

  private ShmFixture fixture;
  private Path served;
  private ShmDirectory directory;
  private TreeSet<String> before;

  @BeforeEach
  void open() throws IOException {
    fixture = new ShmFixture(data);
    served = Path.of(fixture.address());
    directory = ShmDirectory.open(served);
    before = names();
    assertTrue(before.stream().anyMatch(SpareQueueFiles::isName), "the server made no spares");
  }

  @AfterEach
  void close() {
    Thread.interrupted();
    directory.close();
    fixture.close();
  }

  private TreeSet<String> names() throws IOException {
    TreeSet<String> names = new TreeSet<>();
    try (Stream<Path> files = Files.list(served)) {
      files.forEach(each -> names.add(each.getFileName().toString()));
    }
    return names;
  }

  /** Found by a test: a spare was taken for an interrupt, and lost its name to nobody. */
  @Test
  void anInterruptTakesNoSpare() throws IOException {
    Thread.currentThread().interrupt();
    assertThrows(ClosedByInterruptException.class, () -> QueueFile.obtain(directory));
    assertEquals(before, names());
  }

  @Test
  void aSpareThatCannotBeMappedIsGivenBack() throws IOException {
    Thread.currentThread().interrupt();
    assertThrows(ClosedByInterruptException.class, () -> SpareQueueFiles.take(directory));
    assertEquals(before, names());
    assertTrue(Thread.interrupted());
    QueueFile taken = SpareQueueFiles.take(directory);
    assertNotEquals(before, names());
    taken.abandon();
    assertEquals(before, names());
  }

  /** The clock throws an error at each of its readings in turn. */
  @Test
  void noConnectionThatAnErrorEndsLeavesAFile() throws IOException {
    int failed = 0;
    for (int readings = 0; readings == failed; readings++) {
      Clock clock = new Clock(readings);
      try (ShmDevice device = ShmDevice.open(ShmOptions.toConnect(clock))) {
        clock.counts = true;
        device.connect(served.toString(), MemorySegment.NULL, Duration.ofSeconds(10));
      } catch (OutOfMemoryError e) {
        failed++;
      }
      assertEquals(before, names(), "after " + readings + " readings of the clock");
    }
    assertTrue(failed > 2, "only " + failed);
  }

  /** A clock that throws an error once. */
  private static final class Clock implements LongSupplier {
    private int left;
    private boolean counts;

    Clock(int left) {
      this.left = left;
    }

    @Override
    public long getAsLong() {
      if (counts && left-- == 0) {
        throw new OutOfMemoryError("made up");
      }
      return System.nanoTime();
    }
  }
}
