package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.BatchException;
import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.testing.Threads;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Calls with several keys, over the devices that are there. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BatchServedTest {
  @TempDir Path data;

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static String text(byte[] value) {
    return value == null ? null : new String(value, UTF_8);
  }

  private static List<byte[]> keys(int from, int to) {
    return IntStream.range(from, to).mapToObj(i -> bytes("key" + i)).toList();
  }

  @Test
  void operationsAreThoseOfAMap() throws Exception {
    try (ErdaStore store = ErdaStore.open(data.resolve("embedded"), SmallStore.OPTIONS);
        ErdaClient erda = store.client()) {
      likeAMap(erda);
    }
    // The table doubles twice during the test, so two tables are read, and entries are moved.
    ServerOptions options = SmallStore.OPTIONS.withListening(List.of(Listening.tcp("127.0.0.1:0")));
    try (ErdaServer server = ErdaServer.start(data.resolve("served"), options)) {
      try (ErdaClient erda = ErdaClient.connect(server.uri())) {
        likeAMap(erda);
      }
      try (ErdaClient erda = ErdaClient.connect(server.uris().get(1))) {
        erda.deleteAll(keys(0, 12_000));
        likeAMap(erda);
      }
    }
  }

  private static void likeAMap(ErdaClient erda) {
    long seed = Long.getLong("erda.seed", 23);
    Random random = new Random(seed);
    Map<String, String> expected = new HashMap<>();
    for (int step = 0; step < 600; step++) {
      String at = "-Derda.seed=" + seed + ", step " + step;
      List<byte[]> keys = new ArrayList<>();
      for (int i = random.nextInt(60); i > 0; i--) {
        keys.add(bytes("key" + random.nextInt(step * 20 + 20)));
      }
      switch (random.nextInt(4)) {
        case 0, 1 -> {
          List<byte[]> values = new ArrayList<>();
          for (byte[] key : keys) {
            String value =
                "v".repeat(random.nextInt(random.nextInt(20) == 0 ? 20_000 : 300)) + values.size();
            values.add(bytes(value));
            expected.put(text(key), value);
          }
          erda.putAll(keys, values);
        }
        case 2 -> {
          List<byte[]> some = keys.subList(0, keys.size() / 4);
          boolean[] existed = erda.deleteAll(some);
          for (int i = 0; i < existed.length; i++) {
            assertEquals(expected.remove(text(some.get(i))) != null, existed[i], at);
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
    List<String> left = List.copyOf(expected.keySet());
    List<byte[]> values = erda.getAll(left.stream().map(BatchServedTest::bytes).toList());
    for (int i = 0; i < left.size(); i++) {
      assertEquals(expected.get(left.get(i)), text(values.get(i)), "-Derda.seed=" + seed);
    }
  }

  /** Two versions of a pair of keys that are put together are each whole, while others read. */
  @Test
  void readersBesideAWriterSeeWholeValues() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaClient writer = ErdaClient.connect(server.uri())) {
      List<byte[]> keys = keys(0, 16);
      writer.putAll(keys, versions(keys, 0));
      writer.handOver();
      CountDownLatch done = new CountDownLatch(1);
      FutureTask<Throwable> reader =
          Threads.start(
              "reader",
              () -> {
                try (ErdaClient erda = ErdaClient.connect(server.uri())) {
                  int[] last = new int[16];
                  while (done.getCount() > 0) {
                    List<byte[]> values = erda.getAll(keys);
                    for (int i = 0; i < 16; i++) {
                      String[] parts = text(values.get(i)).split(" ");
                      assertEquals("key" + i, parts[0]);
                      int version = Integer.parseInt(parts[1]);
                      assertTrue(version >= last[i], "went back");
                      last[i] = version;
                    }
                  }
                }
              });
      for (int version = 1; version <= 2_000; version++) {
        writer.putAll(keys, versions(keys, version));
      }
      done.countDown();
      assertNull(reader.get());
    }
  }

  private static List<byte[]> versions(List<byte[]> keys, int version) {
    return keys.stream()
        .map(key -> bytes(text(key) + " " + version + " " + "x".repeat(version % 500)))
        .toList();
  }

  @Test
  void aClientIsClosedInTheMiddle() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS)) {
      for (int round = 0; round < 60; round++) {
        ErdaClient erda = ErdaClient.connect(server.uri());
        boolean puts = round % 2 == 0;
        CountDownLatch begun = new CountDownLatch(1);
        FutureTask<Throwable> user =
            Threads.start(
                "user",
                () -> {
                  while (true) {
                    if (puts) {
                      erda.putAll(keys(0, 40), keys(0, 40));
                    } else {
                      erda.getAll(keys(0, 80));
                    }
                    begun.countDown();
                  }
                });
        begun.await();
        erda.close();
        Throwable e = user.get();
        assertTrue(
            e instanceof BatchException || e instanceof IllegalStateException,
            () -> "ended with " + e);
        if (e instanceof BatchException told) {
          for (ErdaException each : told.errors()) {
            assertTrue(
                each == null
                    || each instanceof ErdaException.Unavailable
                    || each instanceof ErdaException.OutcomeUnknown,
                () -> "ended with " + each);
          }
        }
      }
    }
  }

  @Test
  void whatIsNotToldAsFailedIsThereAfterAKill() throws Exception {
    Path served = data.resolve("store");
    ErdaException[] errors = new ErdaException[200];
    int rounds = 0;
    try (ServedElsewhere first = ServedElsewhere.start(served);
        ErdaClient erda = first.connect()) {
      MemorySegment[] keys =
          keys(0, 200).stream().map(MemorySegment::ofArray).toArray(MemorySegment[]::new);
      erda.putAll(keys, keys, errors);
      FutureTask<Throwable> killer =
          Threads.start(
              "killer",
              () -> {
                Thread.sleep(50);
                first.kill();
              });
      int failed = 0;
      while (failed == 0) {
        rounds++;
        MemorySegment value = MemorySegment.ofArray(bytes("round " + rounds));
        MemorySegment[] values = new MemorySegment[200];
        Arrays.fill(values, value);
        failed = erda.putAll(keys, values, errors);
      }
      assertNull(killer.get());
      // Reads outlive the server.
      assertTrue(erda.getAll(keys(0, 200)).stream().noneMatch(each -> each == null));
    }
    try (ServedElsewhere second = ServedElsewhere.start(served);
        ErdaClient reader = second.connect()) {
      List<byte[]> values = reader.getAll(keys(0, 200));
      String before = rounds == 1 ? null : "round " + (rounds - 1);
      for (int i = 0; i < 200; i++) {
        String got = text(values.get(i));
        if (errors[i] == null) {
          assertEquals("round " + rounds, got, "key " + i);
        } else if (errors[i] instanceof ErdaException.Unavailable) {
          assertEquals(before == null ? "key" + i : before, got, "key " + i + ": " + errors[i]);
        }
      }
    }
  }

  /** A load of missing memory ended the call, or the client, and named no key. */
  @Test
  void aRegionThatWasShortenedIsToldOfItsKeysAlone() throws Exception {
    Path served = data.resolve("store");
    try (ServedElsewhere server = ServedElsewhere.start(served);
        ErdaClient erda = server.connect()) {
      List<byte[]> keys = keys(0, 200);
      byte[] value = new byte[1000];
      erda.putAll(keys, Collections.nCopies(200, value));
      for (int i = 0; i < 1_000; i++) {
        assertArrayEquals(value, erda.getAll(keys).get(5));
      }
      shortenOneRegion(served);
      BatchException told = assertThrows(BatchException.class, () -> erda.getAll(keys));
      int lost = 0;
      for (int i = 0; i < 200; i++) {
        ErdaException error = told.errors().get(i);
        byte[] key = keys.get(i);
        if (error == null) {
          assertArrayEquals(value, erda.get(key));
        } else {
          lost++;
          assertInstanceOf(ErdaException.Damaged.class, error);
          assertThrows(ErdaException.Damaged.class, () -> erda.get(key));
        }
      }
      assertTrue(lost > 0 && lost < 200, "lost " + lost);
      assertEquals(1, erda.statistics().connections());
    }
  }

  private static void shortenOneRegion(Path store) throws Exception {
    try (Stream<Path> files = Files.list(store)) {
      Path region =
          files
              .filter(file -> file.getFileName().toString().matches("region-[0-9]+-[0-9]+"))
              .sorted()
              .findFirst()
              .orElseThrow();
      try (FileChannel channel = FileChannel.open(region, StandardOpenOption.WRITE)) {
        channel.truncate(4096);
      }
    }
  }
}
