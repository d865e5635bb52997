package io.erda.eval.experiments.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.experiments.network.FairShare.Connection;
import io.erda.eval.process.ProcessException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections that fail end a measurement, and none is left open. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FairShareTest {
  private static final int CONNECTIONS = 8;
  private static final long RUN_NS = Duration.ofMillis(20).toNanos();

  private final AtomicInteger made = new AtomicInteger();
  private final AtomicInteger closed = new AtomicInteger();

  private class Counted implements Connection {
    Counted() {
      made.incrementAndGet();
    }

    @Override
    public void operate(int number) {}

    @Override
    public void close() {
      closed.incrementAndGet();
    }
  }

  private void assertAllClosed() {
    assertEquals(made.get(), closed.get());
  }

  @Test
  void oneThatCanNotConnectEndsItAtOnce() {
    AtomicInteger tried = new AtomicInteger();
    assertFails(
        "no room",
        () -> {
          if (tried.incrementAndGet() == CONNECTIONS / 2) {
            throw new IllegalStateException("no room");
          }
          return new Counted();
        });
    assertEquals(CONNECTIONS - 1, made.get());
    assertAllClosed();
  }

  @Test
  void oneThatFailsBeforeTheOthersAreConnectedEndsItToo() {
    CountDownLatch failed = new CountDownLatch(1);
    AtomicInteger tried = new AtomicInteger();
    assertFails(
        "first",
        () -> {
          if (tried.incrementAndGet() == 1) {
            failed.countDown();
            throw new IllegalStateException("first");
          }
          await(failed);
          return new Counted();
        });
    assertAllClosed();
  }

  @Test
  void oneThatFailsWhileItIsUsedEndsTheMeasurement() {
    try (FairShare share = new FairShare(CONNECTIONS, Failing::new)) {
      assertTrue(
          assertThrows(ProcessException.class, () -> share.run(RUN_NS))
              .getMessage()
              .contains("gone"));
    }
    assertAllClosed();
  }

  private final class Failing extends Counted {
    @Override
    public void operate(int number) {
      throw new AssertionError("gone");
    }
  }

  @Test
  void oneRunFollowsTheOther() {
    try (FairShare share = new FairShare(CONNECTIONS, Counted::new)) {
      for (int i = 0; i < 3; i++) {
        assertEquals(CONNECTIONS, share.run(RUN_NS).operations().length);
      }
    }
    assertEquals(CONNECTIONS, made.get());
    assertAllClosed();
  }

  private static void assertFails(String why, Supplier<Connection> connect) {
    ProcessException failed =
        assertThrows(
            ProcessException.class,
            () -> {
              try (FairShare share = new FairShare(CONNECTIONS, connect)) {
                share.run(RUN_NS);
              }
            });
    assertTrue(failed.getMessage().contains(why), failed.getMessage());
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
