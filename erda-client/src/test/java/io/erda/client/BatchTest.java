package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.rdma.Opcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls with several keys. */
class BatchTest {
  private static final ClientOptions HASTY =
      ClientOptions.DEFAULT
          .withPollingNs(1L << 40)
          .withOperationTimeout(Duration.ofMillis(20))
          .withConnectTimeout(Duration.ofMillis(20));

  @TempDir Path directory;

  private final FakeStore store = new FakeStore();

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static List<byte[]> keys(int from, int to) {
    return IntStream.range(from, to).mapToObj(i -> bytes("key" + i)).toList();
  }

  private static MemorySegment[] segments(List<byte[]> arrays) {
    return arrays.stream().map(MemorySegment::ofArray).toArray(MemorySegment[]::new);
  }

  private static String text(byte[] value) {
    return value == null ? null : new String(value, UTF_8);
  }

  @Test
  void valuesComeInTheOrderOfTheKeys() {
    try (ErdaClient erda = store.client()) {
      assertEquals(List.of(), erda.getAll(List.of()));
      erda.putAll(keys(0, 50), keys(100, 150));
      List<byte[]> asked = new ArrayList<>(keys(0, 70));
      asked.add(bytes("key3"));
      List<byte[]> values = erda.getAll(asked);
      for (int i = 0; i < 70; i++) {
        assertEquals(i < 50 ? "key" + (100 + i) : null, text(values.get(i)));
      }
      assertEquals("key103", text(values.get(70)));
      assertEquals("key103", text(erda.get(bytes("key3"))));
    }
  }

  @Test
  void manyOperationsInAnyOrderAreThoseOfAMap() {
    long seed = Long.getLong("erda.seed", 11);
    Random random = new Random(seed);
    Map<String, String> expected = new HashMap<>();
    try (ErdaClient erda = store.client()) {
      for (int step = 0; step < 300; step++) {
        String at = "-Derda.seed=" + seed + ", step " + step;
        List<byte[]> keys = new ArrayList<>();
        for (int i = random.nextInt(40); i > 0; i--) {
          keys.add(bytes("k" + random.nextInt(60)));
        }
        switch (random.nextInt(3)) {
          case 0 -> {
            List<byte[]> values = new ArrayList<>();
            for (byte[] key : keys) {
              String value = "v".repeat(random.nextInt(random.nextInt(9) == 0 ? 3000 : 100)) + step;
              values.add(bytes(value));
              expected.put(text(key), value + values.size());
              values.set(values.size() - 1, bytes(value + values.size()));
            }
            erda.putAll(keys, values);
          }
          case 1 -> {
            boolean[] existed = erda.deleteAll(keys);
            for (int i = 0; i < existed.length; i++) {
              assertEquals(expected.remove(text(keys.get(i))) != null, existed[i], at);
            }
          }
          default -> {
            List<byte[]> values = erda.getAll(keys);
            for (int i = 0; i < keys.size(); i++) {
              assertEquals(expected.get(text(keys.get(i))), text(values.get(i)), at);
            }
          }
        }
      }
    }
  }

  /** Without that a call with 16 keys is 16 round trips. */
  @Test
  void readsOfAGroupAreUnderWayTogether() {
    int[] posted = {0};
    int[] most = {0};
    try (ErdaClient erda = store.client()) {
      erda.putAll(keys(0, 16), keys(0, 16));
      store.clientDevice.hook =
          (opcode, key, offset, length) -> {
            posted[0]++;
            most[0] = Math.max(most[0], posted[0]);
            return HookedDevice.GO;
          };
      store.clientDevice.onPoll = () -> posted[0] = 0;
      erda.getAll(keys(0, 16));
      assertEquals(32, most[0], "a neighbourhood and a root each, before anything is polled for");
      most[0] = 0;
      posted[0] = 0;
      erda.get(bytes("key1"));
      assertEquals(2, most[0]);
    }
  }

  /** The answers to all were awaited one by one. */
  @Test
  void putsOfAGroupAreUnderWayTogether() {
    store.leaseBytes = 1 << 16;
    int[] sent = {0};
    int[] most = {0};
    try (ErdaClient erda = store.client()) {
      erda.putAll(keys(0, 16), keys(0, 16));
      store.clientDevice.hook =
          (opcode, key, offset, length) -> {
            sent[0] += opcode == Opcode.SEND ? 1 : 0;
            most[0] = Math.max(most[0], sent[0]);
            return HookedDevice.GO;
          };
      store.clientDevice.onPoll = () -> sent[0] = 0;
      erda.putAll(keys(0, 16), keys(0, 16));
      assertTrue(most[0] >= 16, "sent before anything is polled for: " + most[0]);
    }
  }

  @Test
  void putsOfOneKeyTakeEffectInTheOrderOfTheCall() {
    store.published = new ArrayList<>();
    try (ErdaClient erda = store.client()) {
      List<byte[]> keys = new ArrayList<>();
      List<byte[]> values = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        keys.add(bytes("k" + i % 3));
        values.add(bytes("v" + i));
      }
      erda.putAll(keys, values);
      assertEquals("v39", text(erda.get(bytes("k0"))));
      assertEquals("v37", text(erda.get(bytes("k1"))));
      assertEquals("v38", text(erda.get(bytes("k2"))));
      boolean[] existed = erda.deleteAll(List.of(keys.get(0), keys.get(0), keys.get(1)));
      assertArrayEquals(new boolean[] {true, false, true}, existed);
    }
  }

  /** The second one waited for its turn until its time was over when nothing else was under way. */
  @Test
  void theLastOneThatIsUnderWayGetsItsTurn() {
    try (ErdaClient erda = store.client()) {
      erda.putAll(List.of(bytes("a"), bytes("a")), List.of(bytes("1"), bytes("2")));
      assertEquals("2", text(erda.get(bytes("a"))));
    }
  }

  @Test
  void badSizesAreToldOfTheirKeysAlone() {
    try (ErdaClient erda = store.client();
        Arena arena = Arena.ofConfined()) {
      List<byte[]> keys =
          List.of(bytes("a"), new byte[0], bytes("b"), new byte[65], bytes("c"), bytes("d"));
      List<byte[]> values =
          List.of(bytes("1"), bytes("2"), bytes("3"), bytes("4"), new byte[200_001], bytes("6"));
      BatchException told = assertThrows(BatchException.class, () -> erda.putAll(keys, values));
      assertEquals(6, told.errors().size());
      for (int i = 0; i < 6; i++) {
        boolean bad = i == 1 || i == 3 || i == 4;
        assertEquals(bad, told.errors().get(i) instanceof ErdaException.BadSize, "key " + i);
      }
      assertSame(told.errors().get(1), told.getCause());
      assertEquals("6", text(erda.get(bytes("d"))));

      MemorySegment[] into = new MemorySegment[6];
      Arrays.setAll(into, i -> arena.allocate(8));
      long[] lengths = new long[6];
      ErdaException[] errors = new ErdaException[6];
      assertEquals(2, erda.getAll(segments(keys), into, lengths, errors));
      assertArrayEquals(new long[] {1, ErdaClient.FAILED, 1, ErdaClient.FAILED, -1, 1}, lengths);
      assertNull(errors[0]);
      assertInstanceOf(ErdaException.BadSize.class, errors[1]);
      boolean[] existed = new boolean[6];
      assertEquals(2, erda.deleteAll(segments(keys), existed, errors));
      assertArrayEquals(new boolean[] {true, false, true, false, false, true}, existed);
      assertThrows(
          IllegalArgumentException.class,
          () -> erda.deleteAll(segments(keys), existed, new ErdaException[5]));
    }
  }

  @Test
  void smallDestinationGetsNothing() {
    try (ErdaClient erda = store.client();
        Arena arena = Arena.ofConfined()) {
      erda.putAll(keys(0, 2), List.of(bytes("hello"), bytes("hello")));
      MemorySegment small = arena.allocate(4);
      MemorySegment large = arena.allocate(5);
      long[] lengths = new long[2];
      ErdaException[] errors = new ErdaException[2];
      MemorySegment[] into = {small, large};
      assertEquals(0, erda.getAll(segments(keys(0, 2)), into, lengths, errors));
      assertArrayEquals(new long[] {5, 5}, lengths);
      assertEquals(0, small.get(java.lang.foreign.ValueLayout.JAVA_INT, 0));
      assertEquals('o', large.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 4));
    }
  }

  /** A caller that took this outcome for "nothing was changed" would put twice. */
  @Test
  void outcomesThatNobodyKnowsStayUnknownForTheirKeysAlone() {
    store.leaseBytes = 1 << 16;
    try (ErdaClient erda = store.client(HASTY)) {
      erda.putAll(keys(0, 8), keys(0, 8));
      int[] publishes = {0};
      store.answer =
          (type, request) -> {
            if (type == Message.PUBLISH && ++publishes[0] == 4) {
              store.disconnect();
              return FakeStore.SILENCE;
            }
            return Result.OK;
          };
      MemorySegment[] keys = segments(keys(0, 8));
      ErdaException[] errors = new ErdaException[8];
      int failed = erda.putAll(keys, segments(keys(10, 18)), errors);
      assertInstanceOf(ErdaException.OutcomeUnknown.class, errors[3], Arrays.toString(errors));
      assertNull(errors[0]);
      assertEquals(Arrays.stream(errors).filter(each -> each != null).count(), failed);
      for (int i = 0; i < 8; i++) {
        String value = text(erda.get(bytes("key" + i)));
        if (errors[i] == null) {
          assertEquals("key" + (10 + i), value);
        } else if (errors[i] instanceof ErdaException.Unavailable) {
          assertEquals("key" + i, value, errors[i].getMessage());
        }
      }
    }
  }

  /** A call with a thousand keys would have ended after a thousand time-outs. */
  @Test
  void withoutAServerKeysBehindTheFirstGroupAreNotBegun() {
    try (ErdaClient erda = store.client(HASTY)) {
      erda.put(bytes("a"), bytes("1"));
      store.stop();
      long before = store.nowNs;
      MemorySegment[] keys = segments(keys(0, 1000));
      ErdaException[] errors = new ErdaException[1000];
      assertEquals(1000, erda.putAll(keys, keys, errors));
      for (ErdaException each : errors) {
        assertInstanceOf(ErdaException.Unavailable.class, each);
      }
      assertTrue(errors[999].getMessage().contains("not begun"), errors[999].getMessage());
      BatchException told = assertThrows(BatchException.class, () -> erda.getAll(keys(0, 1000)));
      assertTrue(told.errors().stream().allMatch(ErdaException.Unavailable.class::isInstance));
      assertTrue(store.nowNs - before < 200_000_000, "ns: " + (store.nowNs - before));
      store.start();
      erda.putAll(keys(0, 3), keys(0, 3));
      assertEquals("key2", text(erda.get(bytes("key2"))));
    }
  }

  /** Every place of the group is free again, and none is taken for done. */
  @ParameterizedTest
  @ValueSource(ints = {Opcode.WRITE, Opcode.SEND, Opcode.READ})
  void aFaultInTheMiddleIsToldOfWhatItMet(int opcode) {
    store.leaseBytes = 2048;
    try (ErdaClient erda = store.client(HASTY.withOperationTimeout(Duration.ofSeconds(1)))) {
      erda.putAll(keys(0, 16), keys(0, 16));
      for (int at = 1; at <= 20; at++) {
        int[] left = {at};
        store.clientDevice.hook =
            (posted, key, offset, length) -> {
              if (posted == opcode && --left[0] == 0) {
                throw new InternalError("a fault occurred");
              }
              return HookedDevice.GO;
            };
        ErdaException[] errors = new ErdaException[16];
        MemorySegment[] keys = segments(keys(0, 16));
        long[] lengths = new long[16];
        MemorySegment[] into = new MemorySegment[16];
        Arrays.setAll(into, i -> MemorySegment.ofArray(new byte[8]));
        int failed =
            opcode == Opcode.READ
                ? erda.getAll(keys, into, lengths, errors)
                : erda.putAll(keys, segments(keys(20, 36)), errors);
        store.clientDevice.hook = (any, k, o, l) -> HookedDevice.GO;
        // A SEND that met the fault ends the connection, and the put is sent over another one.
        assertTrue(
            left[0] > 0 || failed > 0 || opcode == Opcode.SEND, "at " + at + ": nobody was told");
        for (int i = 0; i < 16; i++) {
          if (opcode == Opcode.READ && errors[i] == null) {
            assertEquals(("key" + i).length(), lengths[i], "at " + at + ", key " + i);
          } else if (errors[i] == null) {
            assertEquals("key" + (20 + i), text(erda.get(bytes("key" + i))), "at " + at);
          }
        }
        erda.putAll(keys(0, 16), keys(0, 16));
        assertEquals("key15", text(erda.getAll(keys(0, 16)).get(15)));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {Opcode.SEND, Opcode.READ})
  void whatIsNoFaultOfMemoryIsThrownWhenEveryKeyHasItsOutcome(int opcode) {
    store.leaseBytes = 2048;
    try (ErdaClient erda = store.client(HASTY.withOperationTimeout(Duration.ofSeconds(1)))) {
      erda.putAll(keys(0, 40), keys(0, 40));
      for (int at = 1; at <= 16; at++) {
        int[] left = {at};
        store.clientDevice.hook =
            (posted, key, offset, length) -> {
              if (posted == opcode && --left[0] == 0) {
                throw new StackOverflowError();
              }
              return HookedDevice.GO;
            };
        ErdaException[] errors = new ErdaException[40];
        MemorySegment[] keys = segments(keys(0, 40));
        long[] lengths = new long[40];
        assertThrows(
            StackOverflowError.class,
            () -> {
              if (opcode == Opcode.READ) {
                erda.getAll(keys, keys, lengths, errors);
              } else {
                erda.putAll(keys, keys, errors);
              }
            });
        store.clientDevice.hook = (any, k, o, l) -> HookedDevice.GO;
        assertInstanceOf(ErdaException.Unavailable.class, errors[39]);
        for (int i = 0; i < 40 && opcode == Opcode.READ; i++) {
          assertEquals(errors[i] == null, lengths[i] > 0, "at " + at + ", key " + i);
        }
        erda.putAll(keys(0, 40), keys(0, 40));
      }
    }
  }

  /** A file that was shortened under its mapping: what it was to be part of fails alone. */
  @Test
  void memoryOfTheCallersThatIsGoneFailsItsKeyAlone() throws Exception {
    Path file = directory.resolve("mapped");
    try (ErdaClient erda = store.client();
        Arena arena = Arena.ofShared();
        FileChannel channel =
            FileChannel.open(
                file,
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
      channel.truncate(0);
      channel.write(java.nio.ByteBuffer.allocate(8192));
      MemorySegment gone = channel.map(FileChannel.MapMode.READ_WRITE, 0, 8192, arena);
      channel.truncate(0);
      MemorySegment[] keys = segments(keys(0, 20));
      MemorySegment[] values = segments(keys(0, 20));
      values[5] = gone;
      ErdaException[] errors = new ErdaException[20];
      assertEquals(1, erda.putAll(keys, values, errors));
      for (int i = 0; i < 20; i++) {
        boolean done = i != 5;
        assertEquals(done, errors[i] == null, "key " + i);
        assertEquals(done, erda.get(bytes("key" + i)) != null, "key " + i);
      }
      assertInstanceOf(ErdaException.BadArgument.class, errors[5]);
      erda.putAll(keys(0, 20), keys(0, 20));
      MemorySegment[] into = new MemorySegment[20];
      Arrays.setAll(into, i -> MemorySegment.ofArray(new byte[100]));
      into[5] = gone;
      long[] lengths = new long[20];
      assertEquals(1, erda.getAll(keys, into, lengths, errors));
      assertInstanceOf(ErdaException.BadArgument.class, errors[5]);
      assertEquals(ErdaClient.FAILED, lengths[5]);
      keys[5] = gone.asSlice(0, 8);
      into[5] = into[4];
      assertEquals(1, erda.getAll(keys, into, lengths, errors));
      assertInstanceOf(ErdaException.BadArgument.class, errors[5]);
      assertEquals("key6".length(), lengths[6], "the others were read");
      assertEquals("key19", text(erda.get(bytes("key19"))));
    }
  }

  @Test
  void nullsAreRefusedBeforeAnythingIsDone() {
    try (ErdaClient erda = store.client()) {
      store.requests.clear();
      List<byte[]> keys = Arrays.asList(bytes("a"), null);
      assertThrows(NullPointerException.class, () -> erda.putAll(keys, keys));
      assertThrows(NullPointerException.class, () -> erda.getAll(keys));
      assertThrows(NullPointerException.class, () -> erda.deleteAll(keys));
      assertEquals(List.of(), store.requests);
    }
  }
}
