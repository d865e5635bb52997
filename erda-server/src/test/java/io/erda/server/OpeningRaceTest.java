package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two threads open a directory at once that is not there yet, and one of them gets it. An opening
 * that could not lock the directory removed it, because it had made it and it was empty still; the
 * opening that had locked it could make no store in it then.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OpeningRaceTest {
  private static final int ROUNDS = Integer.getInteger("erda.rounds", 40);
  private static final byte[] KEY = "key".getBytes(UTF_8);

  @TempDir Path directory;

  @Test
  void oneOfTwoGetsANewDirectory() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      Path data = directory.resolve("parent-" + round).resolve("data");
      List<ErdaStore> opened = openTwice(data);
      assertEquals(1, opened.size(), "round " + round);
      try (ErdaStore store = opened.getFirst();
          ErdaClient client = store.client()) {
        client.put(KEY, KEY);
      }
      try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
          ErdaClient client = store.client()) {
        assertArrayEquals(KEY, client.get(KEY), "round " + round);
      }
    }
  }

  private static List<ErdaStore> openTwice(Path data) throws Exception {
    CyclicBarrier both = new CyclicBarrier(2);
    List<FutureTask<ErdaStore>> tries = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      FutureTask<ErdaStore> each =
          new FutureTask<>(() -> {
            both.await();
            try {
              return ErdaStore.open(data, SmallStore.OPTIONS);
            } catch (ErdaException.Unusable e) {
              assertTrue(e.getMessage().contains("in use"), e::getMessage);
              return null;
            }
          });
      tries.add(each);
      new Thread(each, "opening " + i).start();
    }
    List<ErdaStore> opened = new ArrayList<>();
    for (FutureTask<ErdaStore> each : tries) {
      if (each.get() != null) {
        opened.add(each.get());
      }
    }
    return opened;
  }
}
