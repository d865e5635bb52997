package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaClientPool;
import io.erda.client.ErdaFutures;
import io.erda.client.ErdaUri;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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

  /** Found by a review: a place among the pending operations was lost in the submitting thread. */
  @Test
  void futuresKeepTheirPlaces() throws Exception {
    ClientOptions options = ClientOptions.DEFAULT.withOperationTimeout(Duration.ofSeconds(3));
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS)) {
      ErdaUri uri = ErdaUri.parse(server.uri());
      for (int round = 0; round < 10 * ROUNDS; round++) {
        try (ErdaFutures futures = ErdaFutures.connect(uri, options, 1)) {
          futures.put(KEY, VALUE).join();
          warmUp(futures);
          DeepSubmitter submitter = new DeepSubmitter(futures);
          Thread thread = new Thread(null, submitter, "deep", STACK_BYTES + 24 * round);
          thread.start();
          thread.join();
          assertTrue(submitter.overflows > 0, "no stack overflowed");
          assertEquals("value", new String(futures.get(KEY).join(), UTF_8), "round " + round);
          assertEquals(0, futures.pending());
        }
      }
    }
  }

  /**
   * Initializes classes: one whose initialization overflows the stack is lost to the JVM. The gets
   * wait for room.
   */
  private static void warmUp(ErdaFutures futures) {
    for (int i = 0; i < 100; i++) {
      futures.get(KEY);
    }
    futures.get(KEY).join();
  }

  /**
   * Overflows its stack, and then submits a get from each frame on the way back, of which the first
   * ones overflow the stack again.
   */
  private static final class DeepSubmitter implements Runnable {
    private static final int FRAMES = 150;

    private final ErdaFutures futures;
    private final List<CompletableFuture<byte[]>> submitted = new ArrayList<>(FRAMES);
    private final long beganNs = System.nanoTime();
    private int frames;
    private int overflows;

    DeepSubmitter(ErdaFutures futures) {
      this.futures = futures;
    }

    @Override
    public void run() {
      dig(0);
      for (CompletableFuture<byte[]> each : submitted) {
        each.join();
      }
    }

    private void dig(int depth) {
      try {
        if (depth < Integer.MAX_VALUE) {
          dig(depth + 1);
        }
      } catch (StackOverflowError e) {
        overflows = 0;
      }
      // Each call waits in vain where a place was lost.
      if (frames++ < FRAMES && System.nanoTime() - beganNs < TimeUnit.SECONDS.toNanos(5)) {
        try {
          submitted.add(futures.get(KEY));
        } catch (StackOverflowError e) {
          overflows++;
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
