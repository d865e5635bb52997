package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.erda.rdma.shm.ShmQueuePair;
import io.erda.testing.Threads;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** When a client says that it may not use a server's socket. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ForbiddenSocketTest {
  @TempDir Path directory;

  /** A server that starts again removes the socket of the one before, and makes its own. */
  @Test
  void aSocketThatIsMadeAnewIsNotForbidden() throws Exception {
    Path socket = directory.resolve("server");
    FutureTask<Throwable> servers =
        Threads.start(
            "servers",
            () -> {
              for (int i = 0; i < 2_000; i++) {
                Files.createFile(socket);
                LockSupport.parkNanos(100_000);
                Files.delete(socket);
              }
            });
    while (!servers.isDone()) {
      assertFalse(ShmQueuePair.isForbidden(socket));
    }
    assertNull(servers.get());
  }
}
