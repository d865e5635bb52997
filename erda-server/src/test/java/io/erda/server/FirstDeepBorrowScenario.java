package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ErdaClientPool;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The first borrowing of a process is done near the end of a stack, by a thread that has room to
 * borrow a client and gives it back. Run as {@code FirstDeepBorrowScenario DIRECTORY FRAMES};
 * prints {@code done} when the pool's only client can be borrowed afterwards.
 */
final class FirstDeepBorrowScenario {
  private static final byte[] KEY = "key".getBytes(UTF_8);
  private static final int WARM_UP = 3000;
  private static final long STACK_BYTES = 384 << 10;

  private FirstDeepBorrowScenario() {}

  public static void main(String[] arguments) throws Exception {
    int frames = Integer.parseInt(arguments[1]);
    try (ErdaStore store = ErdaStore.open(Path.of(arguments[0]), SmallStore.OPTIONS);
        ErdaClientPool pool = new ErdaClientPool(store::client, 1, Duration.ofSeconds(2))) {
      for (int i = 0; i < WARM_UP; i++) {
        pool.put(KEY, KEY);
        pool.get(KEY);
      }
      Runnable deep = () -> DeepStackTest.near(frames, new int[1], () -> borrow(pool));
      Thread thread = new Thread(null, deep, "deep", STACK_BYTES);
      thread.setUncaughtExceptionHandler((in, thrown) -> System.out.println(thrown));
      thread.start();
      thread.join();
      try (ErdaClientPool.Lent lent = pool.borrow()) {
        System.out.println(lent.client().get(KEY).length);
      }
    }
    System.out.println("done");
  }

  private static void borrow(ErdaClientPool pool) {
    try (ErdaClientPool.Lent lent = pool.borrow()) {
      lent.client().get(KEY);
    }
  }
}
