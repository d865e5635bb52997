package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.Creation;
import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Files that another thread makes, and the fate of those that are not needed any more. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class FileMakerTest {
  private final HeapDirectory directory = new HeapDirectory();
  private final List<PersistentMemory> made = new CopyOnWriteArrayList<>();
  private final FileMaker files = new FileMaker(made::add, new Failures());

  /** A creation of three steps, the second of which can be held up or fail. */
  private final class ThreeSteps implements Creation {
    private final String name;
    private final CountDownLatch second = new CountDownLatch(1);
    private final CountDownLatch atSecond = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile IOException failure;
    private volatile Thread by;
    private volatile boolean memoryClosed;
    private int steps;

    ThreeSteps(String name) {
      this.name = name;
    }

    @Override
    public PersistentMemory step() throws IOException {
      by = Thread.currentThread();
      steps++;
      if (steps == 2) {
        atSecond.countDown();
        try {
          second.await();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
        if (failure != null) {
          throw failure;
        }
      }
      if (steps < 3) {
        return null;
      }
      return new ForwardingMemory(directory.create(name, 64)) {
        @Override
        public void close() {
          super.close();
          memoryClosed = true;
        }
      };
    }

    @Override
    public void close() {
      closed.countDown();
    }
  }

  @AfterEach
  void close() {
    files.close();
  }

  private static PersistentMemory await(Creation creation) throws Exception {
    while (true) {
      PersistentMemory memory = creation.step();
      if (memory != null) {
        return memory;
      }
      Thread.sleep(1);
    }
  }

  @Test
  void anotherThreadMakesIt() throws Exception {
    ThreeSteps steps = new ThreeSteps("file");
    try (Creation creation = files.creating(steps)) {
      steps.atSecond.await();
      assertEquals(null, creation.step(), "it is not there yet");
      steps.second.countDown();
      PersistentMemory memory = await(creation);
      assertNotSame(Thread.currentThread(), steps.by);
      assertEquals(List.of(memory), made, "who prepares its pages was told before");
      assertEquals(0, steps.closed.getCount());
    }
    assertFalse(steps.memoryClosed, "whoever took it closes it");
  }

  @Test
  void whoAskedIsToldThatItFailed() throws Exception {
    ThreeSteps steps = new ThreeSteps("file");
    steps.failure = new IOException("on purpose");
    steps.second.countDown();
    Creation creation = files.creating(steps);
    assertSame(steps.failure, assertThrows(IOException.class, () -> await(creation)));
    assertEquals(List.of(), made);
    ThreeSteps next = new ThreeSteps("next");
    next.second.countDown();
    assertEquals(List.of(await(files.creating(next))), made, "the thread goes on");
  }

  @Test
  void oneThatNobodyWantsIsGivenUp() throws Exception {
    ThreeSteps steps = new ThreeSteps("file");
    Creation creation = files.creating(steps);
    steps.atSecond.await();
    creation.close();
    steps.second.countDown();
    steps.closed.await();
    assertEquals(List.of(), made);
  }

  @Test
  void oneThatIsReadyAndWasNotTakenIsClosed() throws Exception {
    ThreeSteps steps = new ThreeSteps("file");
    steps.second.countDown();
    Creation creation = files.creating(steps);
    // The thread begins the next one after this was over.
    ThreeSteps next = new ThreeSteps("next");
    files.creating(next);
    next.atSecond.await();
    creation.close();
    next.second.countDown();
    assertTrue(steps.memoryClosed);
  }

  @Test
  void closingGivesUpWhatIsUnderWayAndWhatWaits() throws Exception {
    ThreeSteps steps = new ThreeSteps("file");
    files.creating(steps);
    ThreeSteps waits = new ThreeSteps("waits");
    files.creating(waits);
    steps.atSecond.await();
    Thread closing = new Thread(files::close);
    closing.start();
    while (closing.getState() != Thread.State.WAITING) {
      Thread.sleep(1);
    }
    steps.second.countDown();
    closing.join();
    assertEquals(0, steps.closed.getCount() + waits.closed.getCount());
    assertEquals(0, waits.steps, "it was not begun");
    assertEquals(List.of(), made);
  }
}
