package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ErdaClient;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * An application with an embedded store whose heap is full again and again: its own allocations
 * fail, and those of the store's threads. When it has memory again it closes the store, opens it
 * again and finds what was acknowledged. Run as {@code OutOfMemoryScenario DIRECTORY}; prints
 * {@code done}.
 */
final class OutOfMemoryScenario {
  private static final byte[] KEY = "key".getBytes(UTF_8);
  private static final byte[] LARGE_KEY = "large".getBytes(UTF_8);
  private static final int[] FILLED_WITH = {1000, 100_000, 64};
  private static final int ROUNDS = 9;

  private final Deque<byte[]> filled = new ArrayDeque<>();
  private final byte[] eight = new byte[8];
  private final byte[] large = new byte[200_000];
  private long acknowledged;

  private OutOfMemoryScenario() {}

  public static void main(String[] arguments) {
    new OutOfMemoryScenario().run(Path.of(arguments[0]));
  }

  private void run(Path data) {
    ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
    ErdaClient client = store.client();
    client.put(KEY, eight);
    for (int round = 0; round < ROUNDS; round++) {
      fill(FILLED_WITH[round % FILLED_WITH.length]);
      for (int i = 0; i < 10; i++) {
        attempt(client, i);
      }
      filled.clear();
    }
    // The client of a store that failed may fail as well: all that counts is that both end.
    try {
      client.close();
    } finally {
      store.close();
    }
    try (ErdaStore again = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClient reading = again.client()) {
      long found = ByteBuffer.wrap(reading.get(KEY)).getLong();
      if (found < acknowledged) {
        throw new AssertionError("found " + found + ", acknowledged " + acknowledged);
      }
    }
    System.out.println("done");
  }

  private void fill(int bytes) {
    try {
      while (true) {
        filled.add(new byte[bytes]);
      }
    } catch (OutOfMemoryError e) {
      // As full as can be.
    }
  }

  private void attempt(ErdaClient client, int i) {
    if (i > 3) {
      filled.pollLast();
    }
    try {
      if (i % 2 == 0) {
        ByteBuffer.wrap(eight).putLong(acknowledged + 1);
        client.put(KEY, eight);
        acknowledged++;
      } else {
        client.put(LARGE_KEY, large);
        client.get(LARGE_KEY);
      }
    } catch (RuntimeException | Error e) {
      // Told to the application, which goes on.
    }
  }
}
