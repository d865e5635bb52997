package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.testing.Threads;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The listener of a store that becomes read-only may wait, and it may close the server. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("long")
class ReadOnlyNewsTest {
  @TempDir Path data;

  @Test
  void aListenerMayWaitWithoutAnEnd() throws InterruptedException {
    ReadOnlyNews news = new ReadOnlyNews(null);
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    CountDownLatch never = new CountDownLatch(1);
    news.onReadOnly(why -> {
      told.add(why);
      Threads.await(never);
    });
    news.readOnly("a reason");
    assertEquals("a reason", told.poll(1, TimeUnit.MINUTES));
    never.countDown();
  }

  /** The server's thread used to wait for its own end, and so did everybody else who closed it. */
  @Test
  @SuppressWarnings("try") // Closing it again does nothing.
  void aListenerMayCloseTheServer() throws Exception {
    CountDownLatch closed = new CountDownLatch(1);
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS)) {
      server.onReadOnly(why -> {
        server.close();
        closed.countDown();
      });
      Files.delete(data.resolve("regions"));
      assertTrue(closed.await(1, TimeUnit.MINUTES));
    }
  }
}
