package io.erda.eval.baselines;

import static io.erda.eval.baselines.BaselineFixture.SMALL;
import static io.erda.eval.baselines.BaselineFixture.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.MemoryDirectory;
import io.erda.rdma.Device;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The tests of both baselines, on any device. */
abstract class BaselineContract {
  /** A process that serves: its directory and device. */
  interface Host extends AutoCloseable {
    MemoryDirectory directory();

    Device device();

    default boolean flushesPersist() {
      return false;
    }

    String address();

    /** A device for a client. The host closes it. */
    Device clientDevice();

    @Override
    void close();
  }

  /** A host over the same files as the one before, which is closed. */
  abstract Host host() throws IOException;

  /** Number of operations in each life of a server, which is compared with a map. */
  int operations() {
    return 400;
  }

  private BaselineFixture serve(Host host, BaselineKind kind, long lagBytes) throws IOException {
    return new BaselineFixture(
        kind,
        host.directory(),
        SMALL,
        lagBytes,
        host.device(),
        host.flushesPersist(),
        host.address());
  }

  @ParameterizedTest
  @EnumSource(BaselineKind.class)
  void putsGetsAndDeletes(BaselineKind kind) throws IOException {
    try (Host host = host();
        BaselineFixture store = serve(host, kind, 0);
        BaselineFixture.Client client = store.client(host.clientDevice());
        BaselineFixture.Client other = store.client(host.clientDevice())) {
      assertNull(client.get("key"));
      client.put("key", "value");
      assertEquals("value", other.get("key"));
      other.put("key", "another");
      assertEquals("another", client.get("key"));
      store.settle();
      assertEquals("another", client.get("key"), "applied");
      client.put("key", "");
      assertEquals("", client.get("key"));
      assertTrue(other.delete("key"));
      assertFalse(client.delete("key"));
      assertNull(client.get("key"));
      store.settle();
      assertNull(client.get("key"), "applied");
      client.put("key", "again");
      assertEquals("again", other.get("key"));
      store.settle();
      assertEquals(1, store.server.size());
    }
  }

  @ParameterizedTest
  @EnumSource(BaselineKind.class)
  void longValuesMoveAndStay(BaselineKind kind) throws IOException {
    Random random = new Random(7);
    try (Host host = host();
        BaselineFixture store = serve(host, kind, 0);
        BaselineFixture.Client client = store.client(host.clientDevice())) {
      for (int length : new int[] {0, 1, 4096, 8, 8000, 4097, 31}) {
        byte[] value = new byte[length];
        random.nextBytes(value);
        client.put(bytes("k"), MemorySegment.ofArray(value));
        assertArrayEquals(value, client.get(bytes("k")));
        store.settle();
        assertArrayEquals(value, client.get(bytes("k")));
      }
      byte[] tooLong = new byte[8200];
      IllegalStateException refused =
          assertThrows(
              IllegalStateException.class,
              () -> client.put(bytes("k"), MemorySegment.ofArray(tooLong)));
      assertTrue(refused.getMessage().contains("at most"), refused.getMessage());
    }
  }

  /** The ring comes round many times, with restarts between, and some of it unapplied. */
  @ParameterizedTest
  @EnumSource(BaselineKind.class)
  void agreesWithAMap(BaselineKind kind) throws IOException {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    Map<String, byte[]> model = new HashMap<>();
    for (int life = 0; life < 4; life++) {
      try (Host host = host();
          BaselineFixture store = serve(host, kind, life % 2 == 0 ? 0 : 1 << 14)) {
        BaselineFixture.Client[] clients = new BaselineFixture.Client[3];
        for (int i = 0; i < clients.length; i++) {
          clients[i] = store.client(host.clientDevice());
        }
        for (int i = 0; i < operations(); i++) {
          operate(clients[random.nextInt(clients.length)], random, model, seed);
        }
        for (Map.Entry<String, byte[]> entry : model.entrySet()) {
          assertArrayEquals(
              entry.getValue(), clients[0].get(bytes(entry.getKey())), "seed " + seed);
        }
        for (BaselineFixture.Client client : clients) {
          client.close();
        }
        store.settle();
        if (life % 2 == 0) {
          assertEquals(model.size(), store.server.size(), "seed " + seed);
        }
      }
    }
  }

  private static void operate(
      BaselineFixture.Client client, Random random, Map<String, byte[]> model, long seed) {
    String key = "key " + random.nextInt(40);
    switch (random.nextInt(4)) {
      case 0 -> assertEquals(model.remove(key) != null, client.delete(key), "seed " + seed);
      case 1 -> assertArrayEquals(model.get(key), client.get(bytes(key)), "seed " + seed);
      default -> {
        byte[] value = new byte[random.nextInt(1 << random.nextInt(1, 11))];
        random.nextBytes(value);
        client.put(bytes(key), MemorySegment.ofArray(value));
        model.put(key, value);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(BaselineKind.class)
  void aFullStoreSaysSoAndGoesOn(BaselineKind kind) throws IOException {
    try (Host host = host();
        BaselineFixture store = serve(host, kind, 0);
        BaselineFixture.Client client = store.client(host.clientDevice())) {
      int keys = 0;
      String full = null;
      while (full == null && keys < 1000) {
        try {
          client.put("key " + keys, "value " + keys);
          keys++;
        } catch (IllegalStateException e) {
          full = e.getMessage();
        }
      }
      assertEquals("failed: the store is full", full);
      assertTrue(keys >= SMALL.buckets() / 2 - 1, () -> "full of few keys");
      for (int i = 0; i < keys; i++) {
        assertEquals("value " + i, client.get("key " + i));
      }
      assertTrue(client.delete("key 0"));
      assertTrue(client.delete("key 1"));
      store.settle();
      client.put("another", "value");
      assertEquals("value", client.get("another"));
    }
  }
}
