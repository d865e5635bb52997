package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests which pages are prepared, and when, and that the pages of removed files are given back. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class PageKeeperTest {
  private static final long MIB = 1 << 20;
  private static final long LENGTH = 16 * MIB;
  private static final long AHEAD = 8 * MIB;

  private final HeapDirectory directory = new HeapDirectory();
  private final PageKeeper pages = new PageKeeper(2, AHEAD, new Failures());
  private Told memory;

  /** A memory that remembers which pages were prepared. */
  private static final class Told extends ForwardingMemory {
    private final boolean onDevice;
    private long preparedTo;
    private long prepared;
    private volatile CountDownLatch discarding;
    private volatile boolean fails;
    private volatile boolean closed;
    private volatile long discarded;
    private volatile long preparedAt;
    private volatile long discardedAt;

    private Told(PersistentMemory memory, boolean onDevice) {
      super(memory);
      this.onDevice = onDevice;
    }

    @Override
    public boolean drainWaitsForDevice() {
      return onDevice;
    }

    @Override
    public synchronized void populate(long offset, long length) {
      assertTrue(length > 0 && length <= MIB, "not by pieces: " + length);
      if (fails) {
        throw new IllegalStateException("on purpose");
      }
      preparedAt = niceness();
      prepared += length;
      preparedTo = offset + length;
      notifyAll();
    }

    /** Waits until so many bytes were prepared, and gives no time for more than that. */
    synchronized void awaitPrepared(long bytes) throws InterruptedException {
      while (prepared < bytes) {
        wait();
      }
      wait(100);
      assertEquals(bytes, prepared);
    }

    synchronized long preparedTo() {
      return preparedTo;
    }

    @Override
    public void discard(long offset, long length) {
      if (discarding != null) {
        try {
          discarding.await();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
      discardedAt = niceness();
      discarded = offset + length;
      if (fails) {
        throw new IllegalStateException("on purpose");
      }
    }

    @Override
    public void close() {
      super.close();
      closed = true;
    }
  }

  @BeforeEach
  void makeMemory() throws IOException {
    memory = create("memory", false);
  }

  @AfterEach
  void close() {
    pages.close();
  }

  private Told create(String name, boolean onDevice) throws IOException {
    return new Told(directory.create(name, LENGTH), onDevice);
  }

  private void awaitReleased() throws InterruptedException {
    while (pages.releasing()) {
      Thread.sleep(1);
    }
  }

  @Test
  void pagesArePreparedAheadOfAHeadAndNoFurther() throws InterruptedException {
    pages.appending(0, memory, 0);
    memory.awaitPrepared(AHEAD);
    pages.appending(0, memory, MIB / 2);
    memory.awaitPrepared(AHEAD);
    pages.appending(0, memory, 2 * MIB);
    memory.awaitPrepared(AHEAD + 2 * MIB);
    pages.appending(0, memory, LENGTH - MIB);
    memory.awaitPrepared(AHEAD + 3 * MIB);
    assertEquals(LENGTH, memory.preparedTo(), "to the end of the file");
  }

  @Test
  void pagesOfANewFileArePreparedBeforeAHeadAppends() throws InterruptedException {
    pages.made(memory);
    memory.awaitPrepared(AHEAD);
    assertEquals(AHEAD, memory.preparedTo());
  }

  /** Its pages were prepared once, and in a store larger than memory were put out since. */
  @Test
  void pagesOfARegionThatIsUsedAgainArePreparedAgain() throws InterruptedException, IOException {
    pages.appending(0, memory, LENGTH - MIB);
    memory.awaitPrepared(MIB);
    Told next = create("next", false);
    pages.appending(0, next, 0);
    next.awaitPrepared(AHEAD);
    pages.appending(0, memory, 0);
    memory.awaitPrepared(MIB + AHEAD);
    assertEquals(AHEAD, memory.preparedTo());
  }

  /** That would write all of the region to the device a second time, for nothing. */
  @Test
  void pagesThatAreWrittenToADeviceAreNotPreparedAgain() throws InterruptedException, IOException {
    Told onDevice = create("device", true);
    pages.appending(0, onDevice, 0);
    onDevice.awaitPrepared(4 * MIB);
    pages.appending(0, memory, 0);
    memory.awaitPrepared(AHEAD);
    pages.appending(0, onDevice, MIB);
    onDevice.awaitPrepared(5 * MIB);
    assertEquals(5 * MIB, onDevice.preparedTo());
  }

  @Test
  void pagesOfARemovedFileAreGivenBack() throws InterruptedException {
    memory.discarding = new CountDownLatch(1);
    pages.release(memory);
    assertTrue(pages.releasing(), "it takes space until its pages are given back");
    assertFalse(memory.closed);
    memory.discarding.countDown();
    awaitReleased();
    assertEquals(LENGTH, memory.discarded);
    assertTrue(memory.closed);
  }

  @Test
  void whatIsReleasedWhenItClosesOrLaterIsGivenBackToo() throws IOException {
    memory.discarding = new CountDownLatch(1);
    pages.release(memory);
    Told second = create("second", false);
    pages.release(second);
    memory.discarding.countDown();
    pages.close();
    Told third = create("third", false);
    pages.release(third);
    assertTrue(memory.closed && second.closed && third.closed);
    assertEquals(List.of(LENGTH, LENGTH), List.of(second.discarded, third.discarded));
    assertFalse(pages.releasing());
  }

  /**
   * The kernel holds the lock of the address space while it prepares pages. When the thread had the
   * lowest priority, clients that connected on a busy core had no answer for five seconds.
   */
  @Test
  void pagesArePreparedAndGivenBackWithThePriorityOfOtherThreads() throws Exception {
    long own = niceness();
    pages.appending(0, memory, 0);
    memory.awaitPrepared(AHEAD);
    pages.release(memory);
    awaitReleased();
    assertEquals(List.of(own, own), List.of(memory.preparedAt, memory.discardedAt));
  }

  /** The niceness of the calling thread. */
  private static long niceness() {
    try {
      String stat = Files.readString(Path.of("/proc/thread-self/stat"));
      return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[16]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void itGoesOnAfterAFailure() throws InterruptedException, IOException {
    memory.fails = true;
    pages.appending(0, memory, 0);
    pages.release(memory);
    awaitReleased();
    assertTrue(memory.closed, "what can't be given back is closed");
    while (pages.failures() == 0) {
      Thread.sleep(1);
    }
    Told next = create("next", false);
    pages.appending(0, next, 0);
    next.awaitPrepared(AHEAD);
  }
}
