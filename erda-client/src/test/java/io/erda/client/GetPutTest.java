package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Promise;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class GetPutTest {
  private final FakeStore store = new FakeStore();

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  @Test
  void whatWasPutIsGot() {
    try (ErdaClient erda = store.client()) {
      assertNull(erda.get(bytes("a")));
      erda.put(bytes("a"), bytes("1"));
      erda.put(bytes("b"), bytes(""));
      assertArrayEquals(bytes("1"), erda.get(bytes("a")));
      assertArrayEquals(bytes(""), erda.get(bytes("b")));
      erda.put(bytes("a"), bytes("2"));
      assertArrayEquals(bytes("2"), erda.get(bytes("a")));
      assertEquals(Promise.PROCESS, erda.promise());
      assertEquals(store.id, erda.storeId());
    }
  }

  @Test
  void deleteTellsWhetherThereWasAValue() {
    try (ErdaClient erda = store.client()) {
      assertFalse(erda.delete(bytes("a")));
      erda.put(bytes("a"), bytes("1"));
      assertTrue(erda.delete(bytes("a")));
      assertNull(erda.get(bytes("a")));
      assertFalse(erda.delete(bytes("a")));
      erda.put(bytes("a"), bytes("2"));
      assertArrayEquals(bytes("2"), erda.get(bytes("a")));
    }
  }

  @Test
  void smallDestinationGetsNothing() {
    try (ErdaClient erda = store.client();
        Arena arena = Arena.ofConfined()) {
      erda.put(bytes("a"), bytes("hello"));
      MemorySegment key = MemorySegment.ofArray(bytes("a"));
      MemorySegment into = arena.allocate(8);
      assertEquals(5, erda.get(key, into.asSlice(0, 4)));
      assertEquals(0, into.get(ValueLayout.JAVA_LONG, 0));
      assertEquals(5, erda.get(key, into));
      assertArrayEquals(bytes("hello"), into.asSlice(0, 5).toArray(ValueLayout.JAVA_BYTE));
      assertEquals(-1, erda.get(MemorySegment.ofArray(bytes("none")), into));
    }
  }

  @Test
  void sizesAreCheckedBeforeAnythingIsSent() {
    try (ErdaClient erda = store.client()) {
      store.requests.clear();
      assertThrows(ErdaException.BadSize.class, () -> erda.get(new byte[0]));
      assertThrows(ErdaException.BadSize.class, () -> erda.get(new byte[65]));
      assertThrows(ErdaException.BadSize.class, () -> erda.put(new byte[0], new byte[1]));
      assertThrows(ErdaException.BadSize.class, () -> erda.put(new byte[65], new byte[1]));
      assertThrows(ErdaException.BadSize.class, () -> erda.put(new byte[64], new byte[200_001]));
      assertThrows(ErdaException.BadSize.class, () -> erda.delete(new byte[65]));
      assertEquals(List.of(), store.requests);
      erda.put(new byte[64], new byte[200_000]);
      assertEquals(200_000, erda.get(new byte[64]).length);
    }
  }

  @Test
  void valuesOfManySizesInAnyOrder() {
    long seed = Long.getLong("erda.seed", 1);
    Random random = new Random(seed);
    try (ErdaClient erda = store.client()) {
      for (int i = 0; i < 60; i++) {
        byte[] value =
            new byte[random.nextInt(4) == 0 ? random.nextInt(20_000) : random.nextInt(300)];
        random.nextBytes(value);
        byte[] key = bytes("key" + i % 20);
        erda.put(key, value);
        assertArrayEquals(value, erda.get(key), "-Derda.seed=" + seed + ", step " + i);
      }
      assertTrue(erda.statistics().secondReads() > 0);
    }
  }

  @Test
  void firstReadFollowsTheSizesThatAreMet() {
    try (ErdaClient erda =
        store.client(ClientOptions.DEFAULT.withPollingNs(1L << 40).withReadBytes(64))) {
      erda.put(bytes("a"), new byte[3000]);
      erda.get(bytes("a"));
      erda.get(bytes("a"));
      assertEquals(1, erda.statistics().secondReads());
    }
  }

  @Test
  void steadyPutsAreOneRequestEach() {
    store.leaseBytes = 1 << 16;
    try (ErdaClient erda = store.client()) {
      byte[] key = bytes("a");
      for (int i = 0; i < 10; i++) {
        erda.put(key, new byte[100]);
      }
      store.requests.clear();
      for (int i = 0; i < 10; i++) {
        erda.put(key, new byte[100]);
      }
      assertEquals(10, store.requests.size());
      assertTrue(store.requests.stream().allMatch(type -> type == Message.PUBLISH));
    }
  }

  @Test
  void nextLeaseIsAskedForAheadAndFullOnesAreEnded() {
    store.leaseBytes = 1024;
    try (ErdaClient erda = store.client()) {
      for (int i = 0; i < 200; i++) {
        erda.put(bytes("a"), new byte[100]);
      }
      int leased = store.requests.stream().mapToInt(type -> type == Message.LEASE ? 1 : 0).sum();
      assertTrue(leased >= 200 / 9, "leases " + leased);
      assertTrue(store.openReservations() <= 2, "open " + store.openReservations());
      // From the second put on, a put finds room at once: its first request is its own publish.
      int waits = 0;
      for (int i = 1; i < store.requests.size(); i++) {
        if (store.requests.get(i) == Message.LEASE
            && store.requests.get(i - 1) != Message.PUBLISH
            && store.requests.get(i - 1) != Message.END) {
          waits++;
        }
      }
      assertTrue(waits <= 2, store.requests.toString());
    }
  }

  @Test
  void statisticsOfTheServerInItsOrder() {
    try (ErdaClient erda = store.client()) {
      Map<String, Long> figures = erda.stats();
      assertEquals(List.of("puts", "gets", "größe"), List.copyOf(figures.keySet()));
      assertEquals(20, figures.get("größe"));
    }
  }

  @Test
  void closedClientSaysSo() {
    ErdaClient erda = store.client();
    erda.close();
    erda.close();
    assertThrows(IllegalStateException.class, () -> erda.get(bytes("a")));
    assertThrows(IllegalStateException.class, () -> erda.put(bytes("a"), bytes("1")));
    assertThrows(IllegalStateException.class, () -> erda.delete(bytes("a")));
    assertThrows(IllegalStateException.class, erda::stats);
  }
}
