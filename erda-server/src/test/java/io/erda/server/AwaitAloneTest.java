package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaAsyncClient;
import io.erda.client.ErdaUri;
import io.erda.client.OperationHandler;
import io.erda.protocol.ErdaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A caller of an {@link ErdaAsyncClient} that does nothing but sleep in {@code await}. Found by a
 * review: where something had come before the sleep, {@code await} returned without handling it,
 * again and again.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class AwaitAloneTest {
  private static final int CALLS_MAX = 1_000_000;

  @TempDir private Path directory;

  /** Counts outcomes. */
  private static final class Outcomes implements OperationHandler {
    int done;
    ErdaException error;

    @Override
    public void onGet(long token, MemorySegment memory, long offset, long length) {
      done++;
    }

    @Override
    public void onPut(long token) {
      done++;
    }

    @Override
    public void onDelete(long token, boolean existed) {
      done++;
    }

    @Override
    public void onError(long token, ErdaException of) {
      done++;
      error = of;
    }
  }

  @Test
  void everyOperationEnds() {
    ServerOptions options =
        ServedElsewhere.OPTIONS.withListening(List.of(Listening.tcp("127.0.0.1:0")));
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), options)) {
      for (String uri : server.uris()) {
        putAndGet(uri);
      }
    }
  }

  private static void putAndGet(String uri) {
    Outcomes outcomes = new Outcomes();
    try (Arena arena = Arena.ofConfined();
        ErdaAsyncClient client =
            ErdaAsyncClient.connect(ErdaUri.parse(uri), ClientOptions.DEFAULT, outcomes)) {
      MemorySegment key = arena.allocate(8);
      for (int i = 1; i <= 200; i++) {
        assertTrue(i % 2 == 0 ? client.get(i, key) : client.put(i, key, key));
        for (int calls = 0; outcomes.done < i; calls++) {
          assertTrue(calls < CALLS_MAX, uri + ": operation " + i + " does not end");
          client.await(1_000_000_000L);
        }
      }
      assertTrue(outcomes.error == null, () -> outcomes.error.toString());
    }
  }
}
