package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaFutures;
import io.erda.client.ErdaUri;
import io.erda.protocol.PutMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Many gets and puts under way at a time, of values of all sizes. Every operation succeeds, and
 * each get finds the value that was put before. A message that is forgotten anywhere on the way
 * shows as an operation without an answer.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class MixedSizesTest {
  private static final int BATCHES = 25;
  private static final int BATCH = 250;

  @TempDir private Path directory;

  @ParameterizedTest
  @EnumSource(PutMode.class)
  void everyOperationIsAnswered(PutMode mode) {
    long seed = Long.getLong("erda.seed", System.nanoTime());
    System.out.println("MixedSizesTest: -Derda.seed=" + seed);
    ServerOptions options =
        ServerOptions.DEFAULTS
            .withCapacityBytes(256 << 20)
            .withRegionBytes(4 << 20)
            .withPutMode(mode)
            .withListening(List.of(Listening.tcp("127.0.0.1:0")));
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), options)) {
      for (String uri : server.uris()) {
        try (ErdaFutures erda =
            ErdaFutures.connect(ErdaUri.parse(uri), ClientOptions.DEFAULT, 2 * BATCH)) {
          run(erda, new Random(seed));
        }
      }
    }
  }

  private static void run(ErdaFutures erda, Random random) {
    Map<Integer, byte[]> values = new HashMap<>();
    for (int key = 0; key < 6; key++) {
      erda.delete(key(key)).join();
    }
    for (int batch = 0; batch < BATCHES; batch++) {
      List<CompletableFuture<?>> all = new ArrayList<>();
      for (int i = 0; i < BATCH; i++) {
        int key = random.nextInt(6);
        if (random.nextBoolean()) {
          byte[] expected = values.get(key);
          all.add(erda.get(key(key)).thenAccept(found -> assertArrayEquals(expected, found)));
        } else {
          // Mostly short values, some of up to 1 MiB.
          byte[] value = new byte[random.nextInt(random.nextInt(20) == 0 ? 1 << 20 : 40)];
          random.nextBytes(value);
          values.put(key, value);
          all.add(erda.put(key(key), value));
        }
      }
      all.forEach(CompletableFuture::join);
    }
  }

  private static byte[] key(int number) {
    return new byte[] {(byte) number};
  }
}
