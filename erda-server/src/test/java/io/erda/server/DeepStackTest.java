package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.client.ErdaClientPool;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A thread that recurses too deep now and then overflows its stack within a call of a pool. It
 * harms that call and no later one of other threads.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeepStackTest {
  private static final long SEED = Long.getLong("erda.seed", 1);
  private static final int ROUNDS = Integer.getInteger("erda.rounds", 2);
  private static final long STACK_BYTES = 384 << 10;
  private static final byte[] KEY = "key".getBytes(UTF_8);
  private static final byte[] VALUE = "value".getBytes(UTF_8);

  @TempDir Path data;

  @Test
  void anotherThreadsCallsOverSharedMemorySucceed() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS)) {
      for (int round = 0; round < ROUNDS; round++) {
        try (ErdaClientPool pool =
            new ErdaClientPool(() -> ErdaClient.connect(server.uri()), 1, Duration.ofSeconds(20))) {
          pool.put(KEY, VALUE);
          DeepCaller caller = new DeepCaller(pool, SEED + round);
          Thread thread = new Thread(null, caller, "deep", STACK_BYTES);
          thread.start();
          thread.join();
          assertTrue(caller.overflows > 0, "no stack overflowed");
          for (int i = 0; i < 20; i++) {
            String found = new String(pool.get(KEY), UTF_8);
            assertEquals("value", found, "seed " + (SEED + round) + " (-Derda.seed)");
          }
        }
      }
    }
  }

  /** Calls a pool near the end of its thread's stack. */
  private static final class DeepCaller implements Runnable {
    private final ErdaClientPool pool;
    private final Random random;
    private int depthMax;
    private int overflows;

    DeepCaller(ErdaClientPool pool, long seed) {
      this.pool = pool;
      this.random = new Random(seed);
    }

    @Override
    public void run() {
      try {
        measure(0);
      } catch (StackOverflowError e) {
        overflows = 0;
      }
      int aim = depthMax;
      for (int i = 0; i < 1000 && overflows < 60; i++) {
        boolean puts = random.nextBoolean();
        try {
          at(Math.max(0, aim - random.nextInt(40)), puts);
          // Compiled code takes less of the stack than the code that measured it.
          aim += overflows == 0 ? aim / 8 : random.nextInt(20);
        } catch (StackOverflowError e) {
          overflows++;
          aim -= random.nextInt(40);
        } catch (RuntimeException | Error e) {
          aim -= random.nextInt(40);
        }
      }
    }

    @SuppressWarnings("InfiniteRecursion")
    private void measure(int depth) {
      depthMax = depth;
      measure(depth + 1);
    }

    private void at(int depth, boolean puts) {
      if (depth > 0) {
        at(depth - 1, puts);
      } else if (puts) {
        pool.put(KEY, VALUE);
      } else {
        pool.get(KEY);
      }
    }
  }
}
