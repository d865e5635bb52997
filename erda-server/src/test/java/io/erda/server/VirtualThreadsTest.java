package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.client.KeyCursor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Virtual threads that do nothing but calls of one kind, more than there are carriers. None of
 * these calls blocks, so they kept the carriers, and the calls of other virtual threads did not
 * end.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("long")
class VirtualThreadsTest {
  private static final byte[] KEY = "key".getBytes(UTF_8);
  private static final byte[] ABSENT_KEY = "absent".getBytes(UTF_8);
  private static final byte[] OTHER_KEY = "other key".getBytes(UTF_8);

  @TempDir Path data;

  @Test
  void getsOfOneLetAnotherPut() throws Exception {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS)) {
      requirePutsBeside(store, client -> client.get(KEY));
    }
  }

  @Test
  void getsOfAKeyThatIsAbsentLetAnotherPut() throws Exception {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS)) {
      requirePutsBeside(store, client -> client.get(ABSENT_KEY));
    }
  }

  @Test
  void iterationsOfOneLetAnotherPut() throws Exception {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS)) {
      requirePutsBeside(
          store,
          client -> {
            try (KeyCursor keys = client.keys()) {
              while (keys.next()) {
                // To the end.
              }
            }
          });
    }
  }

  private interface Call {
    void on(ErdaClient client);
  }

  private static void requirePutsBeside(ErdaStore store, Call call) throws InterruptedException {
    try (ErdaClient client = store.client()) {
      client.put(KEY, KEY);
    }
    AtomicBoolean ends = new AtomicBoolean();
    CountDownLatch done = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    int callers = 2 * Runtime.getRuntime().availableProcessors();
    CountDownLatch begun = new CountDownLatch(callers);
    try {
      for (int i = 0; i < callers; i++) {
        threads.add(
            Thread.startVirtualThread(() -> {
              try (ErdaClient client = store.client()) {
                begun.countDown();
                while (!ends.get()) {
                  call.on(client);
                }
              }
            }));
      }
      // They begin only as they let each other run.
      assertTrue(begun.await(30, TimeUnit.SECONDS), "some callers did not begin");
      threads.add(
          Thread.startVirtualThread(() -> {
            try (ErdaClient client = store.client()) {
              client.put(OTHER_KEY, KEY);
              client.delete(OTHER_KEY);
            }
            done.countDown();
          }));
      assertTrue(done.await(30, TimeUnit.SECONDS), "a put did not end beside them");
    } finally {
      ends.set(true);
      for (Thread each : threads) {
        each.join();
      }
    }
  }
}
