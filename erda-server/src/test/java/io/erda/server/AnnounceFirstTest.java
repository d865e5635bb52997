package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.client.KeyCursor;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.protocol.PutMode;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store whose puts announce first: embedded, over shared memory, and over TCP. */
class AnnounceFirstTest {
  private static final long SEED = Long.getLong("erda.seed", 20261123L);
  private static final ServerOptions OPTIONS = SmallStore.OPTIONS.withPutMode(PutMode.ANNOUNCE);

  @TempDir Path data;

  @Test
  void embedded() {
    try (ErdaStore store = ErdaStore.open(data, OPTIONS);
        ErdaClient erda = store.client()) {
      exercise(List.of(erda));
    }
  }

  @Test
  void overSharedMemory() {
    try (ErdaServer server = ErdaServer.start(data, OPTIONS);
        ErdaClient erda = ErdaClient.connect(server.uri());
        ErdaClient other = ErdaClient.connect(server.uri())) {
      exercise(List.of(erda, other));
    }
  }

  @Test
  void overTcp() {
    ServerOptions options = OPTIONS.withListening(List.of(Listening.tcp("localhost:0")));
    try (ErdaServer server = ErdaServer.start(data, options);
        ErdaClient erda = ErdaClient.connect(server.uris().getLast());
        ErdaClient other = ErdaClient.connect(server.uri())) {
      exercise(List.of(erda, other));
    }
  }

  /** Each operation by one of the clients; what one did before, the others see. */
  private static void exercise(List<ErdaClient> clients) {
    Random random = new Random(SEED);
    Map<Integer, byte[]> model = new HashMap<>();
    for (int i = 0; i < 3_000; i++) {
      int key = random.nextInt(100);
      byte[] keyBytes = ("key" + key).getBytes();
      ErdaClient erda = clients.get(random.nextInt(clients.size()));
      byte[] known = model.get(key);
      switch (random.nextInt(8)) {
        case 0, 1 -> {
          byte[] value = new byte[random.nextInt(50) == 0 ? 200_000 : random.nextInt(2_000)];
          random.nextBytes(value);
          erda.put(keyBytes, value);
          model.put(key, value);
        }
        case 2 -> assertEquals(model.remove(key) != null, erda.delete(keyBytes), "seed " + SEED);
        case 3 -> {
          byte[] value = new byte[random.nextInt(500)];
          boolean done =
              known == null
                  ? erda.putIfAbsent(keyBytes, value)
                  : erda.compareAndSet(keyBytes, known, value);
          assertTrue(done, "seed " + SEED);
          assertFalse(erda.putIfAbsent(keyBytes, value), "seed " + SEED);
          model.put(key, value);
        }
        case 4 -> {
          byte[] expected = known == null ? new byte[3] : known;
          assertEquals(known != null, erda.compareAndDelete(keyBytes, expected), "seed " + SEED);
          model.remove(key);
        }
        case 5 -> {
          byte[] first = "key0".getBytes();
          List<byte[]> both = erda.getAll(List.of(first, keyBytes));
          assertArrayEquals(model.get(0), both.get(0), "seed " + SEED);
          assertArrayEquals(known, both.get(1), "seed " + SEED);
        }
        default -> assertArrayEquals(known, erda.get(keyBytes), "seed " + SEED);
      }
      if (i % 500 == 499) {
        assertAllGiven(erda, model);
      }
    }
    assertEquals(Promise.ATOMIC, clients.getFirst().promise());
    assertEquals(1, clients.getFirst().stats().get("store.putmode"));
  }

  /** An iteration gives what was put just before, by whomever. */
  private static void assertAllGiven(ErdaClient erda, Map<Integer, byte[]> model) {
    int given = 0;
    try (KeyCursor keys = erda.keys()) {
      for (; keys.next(); given++) {
        int key = Integer.parseInt(new String(keys.key()).substring(3));
        assertArrayEquals(model.get(key), keys.value(), "key " + key + ", seed " + SEED);
      }
    }
    assertEquals(model.size(), given, "seed " + SEED);
  }

  @Test
  void theModeBelongsToTheStore() {
    ErdaStore.open(data, OPTIONS).close();
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS)) {
      assertEquals(Promise.ATOMIC, store.promise());
    }
    ServerOptions other = SmallStore.OPTIONS.withPutMode(PutMode.PUBLISH);
    ErdaException.Unusable refused =
        assertThrows(ErdaException.Unusable.class, () -> ErdaStore.open(data, other));
    assertTrue(refused.getMessage().contains("ANNOUNCE"), refused.getMessage());
  }

  @Test
  void moreThanAtomicIsRefused() {
    assertThrows(
        ErdaException.Unusable.class,
        () -> ErdaStore.open(data, OPTIONS.withPromise(Promise.POWER)));
    try (ErdaServer server = ErdaServer.start(data, OPTIONS)) {
      ClientOptions demanding = ClientOptions.DEFAULT.withRequired(Promise.PROCESS);
      assertThrows(
          ErdaException.Refused.class,
          () -> ErdaClient.connect(ErdaUri.parse(server.uri()), demanding).close());
    }
  }
}
