package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.rdma.Opcode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AsyncTest {
  private final FakeStore store = new FakeStore();
  private final List<String> heard = new ArrayList<>();

  private final OperationHandler handler =
      new OperationHandler() {
        @Override
        public void onGet(long token, MemorySegment memory, long offset, long length) {
          heard.add(
              token
                  + "="
                  + (length < 0
                      ? "absent"
                      : new String(
                          memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE), UTF_8)));
        }

        @Override
        public void onPut(long token) {
          heard.add(token + " put");
        }

        @Override
        public void onDelete(long token, boolean existed) {
          heard.add(token + " deleted " + existed);
        }

        @Override
        public void onError(long token, ErdaException error) {
          heard.add(token + " " + error.getClass().getSimpleName());
        }
      };

  private static MemorySegment segment(String text) {
    return MemorySegment.ofArray(text.getBytes(UTF_8));
  }

  private ErdaAsyncClient client(int depth) {
    return ErdaAsyncClient.over(
        store.clientDevice,
        FakeStore.ADDRESS,
        ClientOptions.DEFAULT.withPipelineDepth(depth),
        store,
        handler);
  }

  private void drain(ErdaAsyncClient erda) {
    for (int i = 0; i < 100_000 && erda.inFlight() > 0; i++) {
      if (erda.doWork() == 0) {
        store.getAsLong();
      }
    }
    assertEquals(0, erda.inFlight());
  }

  @Test
  void operationsWaitForTheFirstConnection() {
    try (ErdaAsyncClient erda = client(4)) {
      assertFalse(erda.isConnected());
      assertTrue(erda.put(1, segment("a"), segment("1")));
      assertTrue(erda.put(2, segment("a"), segment("2")));
      assertTrue(erda.put(3, segment("a"), segment("3")));
      drain(erda);
      assertEquals(List.of("1 put", "2 put", "3 put"), heard);
      assertTrue(erda.get(4, segment("a")));
      drain(erda);
      assertEquals("4=3", heard.getLast());
    }
  }

  private void breakWhenReady(ErdaAsyncClient erda) {
    store.requests.clear();
    while (!store.requests.contains(Message.MAP)) {
      erda.doWork();
      store.step();
    }
    // The map and the end of the connection are both there before the client looks again.
    store.disconnect();
    erda.doWork();
    assertFalse(erda.isConnected());
  }

  /**
   * Such a connection has no reason why it was never made. No reason was taken for success: puts
   * that were never sent were acknowledged.
   */
  @Test
  void connectionThatEndsInThePollThatMadeItReadyIsNoSuccess() {
    store.put("here", "1");
    try (ErdaAsyncClient erda = client(4)) {
      assertTrue(erda.put(1, segment("a"), segment("1")));
      assertTrue(erda.get(2, segment("here")));
      assertTrue(erda.delete(3, segment("here")));
      breakWhenReady(erda);
      assertEquals(List.of(), heard, "an attempt that began before them decides nothing");
      breakWhenReady(erda);
      drain(erda);
      assertEquals(
          List.of("1 Unavailable", "2 Unavailable", "3 Unavailable"),
          heard.stream().sorted().toList());
      assertEquals(-1, store.entryOf("a".getBytes(UTF_8)));
      heard.clear();
      assertTrue(erda.get(4, segment("here")));
      drain(erda);
      assertEquals(List.of("4=1"), heard);
    }
  }

  @Test
  void pipelineHasAnEnd() {
    try (ErdaAsyncClient erda = client(2)) {
      assertTrue(erda.get(1, segment("a")));
      assertTrue(erda.get(2, segment("a")));
      assertFalse(erda.get(3, segment("a")));
      assertTrue(erda.put(4, segment("a"), segment("1")));
      assertTrue(erda.delete(5, segment("b")));
      assertFalse(erda.put(6, segment("a"), segment("1")));
      drain(erda);
      assertEquals(4, heard.size());
    }
  }

  @Test
  void putsOfOneKeyKeepTheirOrderWhateverHappens() {
    long seed = Long.getLong("erda.seed", 3);
    Random random = new Random(seed);
    store.leaseBytes = 256;
    store.answer =
        (type, request) -> {
          if (type == Message.PUBLISH && random.nextInt(4) == 0) {
            return Result.NO_RESERVATION;
          }
          return Result.OK;
        };
    store.clientDevice.hook =
        (opcode, key, offset, length) ->
            opcode != Opcode.READ && random.nextInt(3) == 0 ? HookedDevice.REFUSE : HookedDevice.GO;
    Map<String, List<String>> expected = new HashMap<>();
    store.published = new ArrayList<>();
    try (ErdaAsyncClient erda = client(8)) {
      for (int i = 0; i < 400; i++) {
        String key = "k" + random.nextInt(4);
        String value = "v" + i;
        while (!erda.put(i, segment(key), segment(value))) {
          if (erda.doWork() == 0) {
            store.getAsLong();
          }
        }
        expected.computeIfAbsent(key, any -> new ArrayList<>()).add(key + "=" + value);
      }
      drain(erda);
      heard.forEach(each -> assertTrue(each.endsWith(" put"), each + ", -Derda.seed=" + seed));
      for (String key : expected.keySet()) {
        List<String> ofKey =
            store.published.stream().filter(each -> each.startsWith(key + "=")).toList();
        assertEquals(expected.get(key), ofKey, "-Derda.seed=" + seed);
      }
    }
  }

  /**
   * A put that could not be posted at once was passed by one that came later: the server refuses
   * the lower place, and the client gave up the whole lease.
   */
  @Test
  void putThatIsPassedKeepsItsPlaceAndItsLease() {
    int[] refused = {0};
    store.clientDevice.hook =
        (opcode, key, offset, length) ->
            opcode == Opcode.SEND && refused[0]-- > 0 ? HookedDevice.REFUSE : HookedDevice.GO;
    try (ErdaAsyncClient erda = client(8)) {
      erda.put(0, segment("warm"), segment("up"));
      drain(erda);
      long leases = erda.statistics().leases();
      int head = store.headOf("k0".getBytes(UTF_8));
      int submitted = 0;
      for (int i = 0; submitted < 6; i++) {
        if (store.headOf(("k" + i).getBytes(UTF_8)) == head) {
          // Each second one is refused room in the queue, once.
          refused[0] = submitted % 2 == 0 ? 1 : 0;
          assertTrue(erda.put(100 + submitted++, segment("k" + i), segment("v" + i)));
        }
      }
      drain(erda);
      assertEquals(0, store.refusedPlaces, "publications below one that came before");
      assertEquals(0, erda.statistics().rewrites());
      assertTrue(
          erda.statistics().leases() <= leases + 2, leases + " " + erda.statistics().leases());
      assertEquals(7, heard.size());
    }
  }

  @Test
  void handlerMaySubmit() {
    List<String> inner = new ArrayList<>();
    ErdaAsyncClient[] client = new ErdaAsyncClient[1];
    OperationHandler chained =
        new OperationHandler() {
          @Override
          public void onGet(long token, MemorySegment memory, long offset, long length) {
            inner.add("got " + length);
          }

          @Override
          public void onPut(long token) {
            assertTrue(client[0].get(token + 1, segment("a")));
          }

          @Override
          public void onDelete(long token, boolean existed) {}

          @Override
          public void onError(long token, ErdaException error) {
            inner.add(error.getMessage());
          }
        };
    client[0] =
        ErdaAsyncClient.over(
            store.clientDevice, FakeStore.ADDRESS, ClientOptions.DEFAULT, store, chained);
    try (ErdaAsyncClient erda = client[0]) {
      erda.put(1, segment("a"), segment("123"));
      drain(erda);
      assertEquals(List.of("got 3"), inner);
    }
  }

  @Test
  void closingTellsEveryOperation() {
    ErdaAsyncClient erda = client(4);
    erda.put(1, segment("a"), segment("1"));
    drain(erda);
    store.answer = (type, request) -> type == Message.PUBLISH ? FakeStore.SILENCE : Result.OK;
    erda.put(2, segment("a"), segment("2"));
    erda.put(3, segment("a"), segment("3"));
    erda.put(4, segment("b"), segment("4"));
    for (int i = 0; i < 50; i++) {
      erda.doWork();
      store.getAsLong();
    }
    heard.clear();
    erda.close();
    assertEquals(
        List.of("2 OutcomeUnknown", "3 Unavailable", "4 OutcomeUnknown"),
        heard.stream().sorted().toList());
    assertThrows(IllegalStateException.class, erda::doWork);
  }

  @Test
  void noServerFailsWhatWaits() {
    store.stop();
    try (ErdaAsyncClient erda = client(4)) {
      erda.get(1, segment("a"));
      drain(erda);
      assertEquals(List.of("1 Unavailable"), heard);
    }
  }

  @Test
  void keyTooLongForTheStoreIsToldWhenItIsKnown() {
    try (ErdaAsyncClient erda = client(4)) {
      erda.get(1, MemorySegment.ofArray(new byte[100]));
      erda.put(2, MemorySegment.ofArray(new byte[100]), segment("1"));
      erda.put(3, segment("a"), MemorySegment.ofArray(new byte[250_000]));
      drain(erda);
      assertEquals(
          List.of("1 BadSize", "2 BadSize", "3 BadSize"), heard.stream().sorted().toList());
    }
  }
}
