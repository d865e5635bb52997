package io.erda.client.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaAsyncClient;
import io.erda.client.ErdaUri;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every future is completed, also if the heap is exhausted while that is done. No server is there.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FutureDriverTest {
  /** The heap has no room for the first completions with an exception. */
  private static final class WithoutRoom extends CompletableFuture<byte[]> {
    final AtomicInteger failures;

    WithoutRoom(int failures) {
      this.failures = new AtomicInteger(failures);
    }

    @Override
    public boolean completeExceptionally(Throwable why) {
      if (failures.getAndDecrement() > 0) {
        throw new OutOfMemoryError("thrown by this test");
      }
      return super.completeExceptionally(why);
    }
  }

  /** The driver's thread finds no room when it looks whether the future was cancelled. */
  private static final class EndsTheThread extends CompletableFuture<byte[]> {
    final AtomicInteger looks = new AtomicInteger();

    @Override
    public boolean isDone() {
      if (looks.getAndIncrement() == 0) {
        throw new OutOfMemoryError("thrown by this test");
      }
      return super.isDone();
    }
  }

  @TempDir Path nobody;

  private FutureDriver driver() {
    FutureDriver driver = new FutureDriver(ClientOptions.DEFAULT, 100);
    ErdaAsyncClient client =
        ErdaAsyncClient.connect(
            ErdaUri.parse("erda+shm:" + nobody), ClientOptions.DEFAULT, driver.handler());
    driver.start(client, () -> {});
    return driver;
  }

  private static CompletableFuture<byte[]> submit(
      FutureDriver driver, int key, CompletableFuture<byte[]> future) {
    driver.submit(new FutureOperation.Get(new byte[] {(byte) key}, future));
    return future;
  }

  private static void requireAllFailed(List<CompletableFuture<byte[]>> futures) {
    for (CompletableFuture<byte[]> each : futures) {
      assertTrue(each.isCompletedExceptionally(), () -> each + " of " + futures);
    }
  }

  @Test
  void closingCompletesFuturesForWhichTheHeapHadNoRoomAtFirst() {
    FutureDriver driver = driver();
    List<CompletableFuture<byte[]>> futures = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      futures.add(
          submit(driver, i % 4, i % 3 == 0 ? new WithoutRoom(i) : new CompletableFuture<>()));
    }
    driver.close();
    requireAllFailed(futures);
    assertEquals(0, driver.pending());
  }

  @Test
  void aThreadThatEndsByAnErrorCompletesAllFuturesAndClosingReturns() {
    FutureDriver driver = driver();
    List<CompletableFuture<byte[]>> futures = new ArrayList<>();
    futures.add(submit(driver, 0, new WithoutRoom(5)));
    EndsTheThread last = new EndsTheThread();
    futures.add(submit(driver, 1, last));
    while (last.looks.get() == 0) {
      Thread.onSpinWait();
    }
    driver.close();
    requireAllFailed(futures);
    assertEquals(0, driver.pending());
  }

  @Test
  void anExhaustedHeapKeepsNoOperationFromTheOthersOfItsKey() {
    FutureQueues queues = new FutureQueues();
    FutureOperation first = new FutureOperation.Get(new byte[] {1}, new CompletableFuture<>());
    FutureOperation second = new FutureOperation.Delete(new byte[] {1}, new CompletableFuture<>());
    queues.add(first);
    queues.add(second);
    assertEquals(first, queues.next(true));
    queues.taken(true);
    queues.ended(first);
    assertEquals(second, queues.next(false));
    List<FutureOperation> left = new ArrayList<>();
    queues.drain(left::add);
    assertEquals(List.of(second), left);
    assertFalse(queues.next(false) == second);
  }
}
