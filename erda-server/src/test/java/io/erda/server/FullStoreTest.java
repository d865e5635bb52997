package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.protocol.ErdaException.Full;
import io.erda.protocol.Promise;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A full store reports that it is full, on every device: rule 6. For full disks see {@link
 * FullDiskTest}.
 */
class FullStoreTest {
  /** How a client reaches the store. */
  enum On {
    EMBEDDED,
    SHM
  }

  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withHeads(1)
          .withRegionBytes(1 << 16)
          .withSegmentBytes(4096)
          .withCapacityBytes(1 << 18)
          .withConnectionsMax(3)
          .withCleaning(false);

  private static final List<Promise> PROMISES = List.of(Promise.PROCESS, Promise.POWER);

  @TempDir Path data;

  private record Served(Runnable end, Supplier<ErdaClient> clients) implements AutoCloseable {
    @Override
    public void close() {
      end.run();
    }

    ErdaClient client() {
      return clients.get();
    }
  }

  private Served serve(On on, ServerOptions options) {
    return switch (on) {
      case EMBEDDED -> {
        ErdaStore store = ErdaStore.open(data, options);
        yield new Served(store::close, store::client);
      }
      case SHM -> {
        ErdaServer server = ErdaServer.start(data, options);
        yield new Served(server::close, () -> ErdaClient.connect(server.uri()));
      }
    };
  }

  private static byte[] key(int i) {
    return ("key" + i).getBytes(UTF_8);
  }

  /** Puts keys until the store is full. Returns how many fitted. */
  private static int fill(ErdaClient client, Full.What what, int valueBytes) {
    for (int i = 0; i < 100_000; i++) {
      try {
        client.put(key(i), new byte[valueBytes]);
      } catch (Full e) {
        assertEquals(what, e.what(), e.getMessage());
        assertFalse(e.getMessage().contains("\n"), e.getMessage());
        return i;
      }
    }
    throw new AssertionError("never full");
  }

  @ParameterizedTest
  @EnumSource
  void aFullLog(On on) {
    for (Promise promise : Disk.holds(data) ? PROMISES : PROMISES.subList(0, 1)) {
      try (Served served =
              serve(on, SMALL.withCapacityBytes(1 << 17).withBuckets(512).withPromise(promise));
          ErdaClient client = served.client()) {
        int count = fill(client, Full.What.LOG, 1000);
        assertTrue(count > 50 || promise == Promise.POWER, "put " + count);
        for (int i = 0; i < count; i++) {
          assertEquals(1000, client.get(key(i)).length);
        }
        assertNull(client.get(key(count)));
        assertFalse(client.delete(key(count)));
        for (int i = 0; i < count; i++) {
          assertTrue(client.delete(key(i)));
          assertNull(client.get(key(i)));
          assertFalse(client.delete(key(i)));
        }
        // A few tombstones found room where a value did not: in what was left of two extents.
        assertTrue(client.stats().get("table.entries") < 70, "deleted with no space in the log");
      }
      assertEquals(List.of(), StoreVerifier.verify(data).findings());
    }
  }

  /** Large objects leave holes at the ends of segments: no cleaning gains those. */
  @Test
  void whatIsPackedIsNotCopiedAgain() throws Exception {
    ServerOptions options = SMALL.withCapacityBytes(1 << 19).withCleaning(true);
    try (ErdaStore store = ErdaStore.open(data, options);
        ErdaClient client = store.client()) {
      for (int i = 0; i < 12; i++) {
        client.put(key(i % 6), new byte[2500]);
      }
      clean(client);
      long cleanings = client.stats().get("cleaner.cleanings");
      assertTrue(cleanings > 0);
      clean(client);
      assertEquals(cleanings, client.stats().get("cleaner.cleanings"));
      for (int i = 0; i < 3; i++) {
        client.delete(key(i));
      }
      clean(client);
      assertEquals(cleanings + 1, client.stats().get("cleaner.cleanings"));
      for (int i = 0; i < 6; i++) {
        assertEquals(i >= 3, client.get(key(i)) != null);
      }
    }
  }

  private static void clean(ErdaClient client) throws InterruptedException {
    client.clean(-1);
    while (client.stats().get("cleaner.asked") > 0 || client.stats().get("cleaner.phase") > 0) {
      Thread.sleep(1);
    }
  }

  /** Deleted keys make room again, without a restart; a put waits while cleaning may help. */
  @ParameterizedTest
  @EnumSource
  void aFullLogThatIsCleaned(On on) {
    ServerOptions cleaned = SMALL.withCapacityBytes(1 << 19).withCleaning(true);
    try (Served served = serve(on, cleaned);
        ErdaClient client = served.client()) {
      int count = fill(client, Full.What.LOG, 1000);
      byte[] absent = key(200_000);
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < count; i++) {
          assertEquals(1000, client.get(key(i)).length);
        }
        assertThrows(Full.class, () -> client.put(absent, new byte[3000]));
        assertNull(client.get(absent), "a refused put has no effect");
        for (int i = 0; i < count; i++) {
          assertTrue(client.delete(key(i)));
        }
        for (int i = 0; i < count / 2; i++) {
          client.put(key(i), new byte[1000]);
        }
        count = fill(client, Full.What.LOG, 1000);
      }
      assertTrue(client.stats().get("requests.refused.full") > 0);
    }
    assertEquals(List.of(), StoreVerifier.verify(data).findings());
  }

  @ParameterizedTest
  @EnumSource
  void aFullTable(On on) {
    try (Served served =
            serve(on, SMALL.withCapacityBytes(1 << 22).withBuckets(16).withBucketsMax(16));
        ErdaClient client = served.client()) {
      int count = fill(client, Full.What.TABLE, 100);
      for (int i = 0; i < count; i++) {
        assertEquals(100, client.get(key(i)).length);
        client.put(key(i), new byte[50]);
      }
      assertNull(client.get(key(count)));
      assertFalse(client.delete(key(count)));
      for (int i = 0; i < count; i++) {
        assertTrue(client.delete(key(i)));
        assertNull(client.get(key(i)));
      }
      for (int i = 0; i < count; i++) {
        client.put(key(1000 + i / 4), new byte[] {1}); // in place of the deleted keys
        assertNull(client.get(key(i)));
      }
    }
    assertEquals(List.of(), StoreVerifier.verify(data).findings());
  }

  @ParameterizedTest
  @EnumSource
  void allConnectionsTaken(On on) {
    List<ErdaClient> clients = new ArrayList<>();
    try (Served served = serve(on, SMALL)) {
      for (int i = 0; i < 3; i++) {
        clients.add(served.client());
        clients.getLast().put(key(i), new byte[] {(byte) i});
      }
      Full full =
          assertThrows(
              Full.class,
              () -> {
                try (ErdaClient fourth = served.client()) {
                  fourth.get(key(1)); // embedded, a client connects when it has to
                }
              });
      assertEquals(Full.What.CONNECTIONS, full.what());
      assertTrue(full.getMessage().contains("all 3 connections are taken"), full.getMessage());
      for (ErdaClient client : clients) {
        client.put(key(7), new byte[] {7});
        assertArrayEquals(new byte[] {7}, client.get(key(7)));
      }
      clients.removeFirst().close();
      while (clients.getFirst().stats().get("connections") > 2) {
        Thread.onSpinWait();
      }
      clients.add(served.client());
      assertArrayEquals(new byte[] {7}, clients.getLast().get(key(7)));
    } finally {
      clients.forEach(ErdaClient::close);
    }
  }

  /** More than a client's device could reach: the store would open once, and never again. */
  @Test
  void moreRegionsThanClientsReach() {
    ErdaException.BadArgument bad =
        assertThrows(
            ErdaException.BadArgument.class,
            () -> ErdaServer.start(data, SMALL.withCapacityBytes(8191L << 16)));
    assertTrue(bad.getMessage().contains("clients can reach 8190"), bad.getMessage());
  }
}
