package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaAsyncClient;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaClientPool;
import io.erda.client.ErdaFutures;
import io.erda.client.ErdaUri;
import io.erda.client.KeyCursor;
import io.erda.client.OperationHandler;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Root;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Clients that read the files of a store and do nothing else. */
@Timeout(300)
class ReadOnlyTest {
  private static final long SEED = Long.getLong("erda.seed", 20261123L);
  private static final int STAYING = 1000;

  private static final ServerOptions OPTIONS =
      ServerOptions.DEFAULTS
          .withHeads(2)
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 18)
          .withCapacityBytes(1 << 27)
          .withBuckets(1 << 10);

  @TempDir Path data;

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private ErdaUri uri() {
    return new ErdaUri.Shm(data, true);
  }

  private ErdaClient reading() {
    return ErdaClient.connect(uri(), ClientOptions.DEFAULT);
  }

  private ErdaClient impatient() {
    return ErdaClient.connect(
        uri(), ClientOptions.DEFAULT.withOperationTimeout(Duration.ofMillis(300)));
  }

  // Tests the operations that are allowed, and those that are not.

  @Test
  void getsAndIteratesBesideAServer() {
    try (ErdaServer server = ErdaServer.start(data, OPTIONS);
        ErdaClient writing = ErdaClient.connect(server.uri());
        ErdaClient reading = ErdaClient.connect(server.uri() + "?read-only")) {
      assertNull(reading.get(bytes("key")));
      writing.put(bytes("key"), bytes("value"));
      writing.put(bytes("large"), new byte[100_000]);
      assertArrayEquals(bytes("value"), reading.get(bytes("key")));
      assertEquals(100_000, reading.get(bytes("large")).length);
      assertNull(reading.get(bytes("none")));
      List<byte[]> all = reading.getAll(List.of(bytes("key"), bytes("none"), bytes("large")));
      assertArrayEquals(bytes("value"), all.get(0));
      assertNull(all.get(1));
      assertEquals(100_000, all.get(2).length);
      assertEquals(Set.of("key", "large"), keys(reading));
      assertTrue(writing.delete(bytes("key")));
      assertNull(reading.get(bytes("key")));
      assertEquals(writing.storeId(), reading.storeId());
      assertEquals(writing.promise(), reading.promise());
      assertEquals(writing.keyBytesMax(), reading.keyBytesMax());
      assertEquals(writing.valueBytesMax(), reading.valueBytesMax());
      assertEquals(
          1, writing.stats().get("connections"), "the server knows the client that writes alone");
    }
  }

  private static Set<String> keys(ErdaClient erda) {
    Set<String> keys = new HashSet<>();
    try (KeyCursor cursor = erda.keys()) {
      while (cursor.next()) {
        assertTrue(keys.add(new String(cursor.key(), UTF_8)));
      }
    }
    return keys;
  }

  @Test
  void whateverChangesSomethingOrNeedsAServerIsRefused() throws Exception {
    byte[] key = bytes("key");
    try (ErdaServer server = ErdaServer.start(data, OPTIONS);
        ErdaClient writing = ErdaClient.connect(server.uri());
        ErdaClient erda = reading();
        ErdaClientPool pool = ErdaClientPool.of(uri().toString(), 2);
        ErdaFutures futures = ErdaFutures.connect(uri().toString())) {
      writing.put(key, key);
      refused("put", () -> erda.put(key, key));
      refused("delete", () -> erda.delete(key));
      refused("put", () -> erda.putAll(List.of(key), List.of(key)));
      refused("delete", () -> erda.deleteAll(List.of(key)));
      refused("putIfAbsent", () -> erda.putIfAbsent(key, key));
      refused("compareAndSet", () -> erda.compareAndSet(key, key, bytes("other")));
      refused("compareAndDelete", () -> erda.compareAndDelete(key, key));
      refused("clean", () -> erda.clean(-1));
      assertTrue(refused("stats", erda::stats).contains("no server to ask"));
      refused("put", () -> pool.put(key, key));
      assertArrayEquals(key, pool.get(key));
      assertArrayEquals(key, futures.get(key).get());
      ExecutionException said =
          assertThrows(ExecutionException.class, () -> futures.put(key, key).get());
      assertTrue(said.getCause() instanceof ErdaException.ReadOnly, said::toString);
      try (ErdaAsyncClient async =
          ErdaAsyncClient.connect(uri(), ClientOptions.DEFAULT, new Ignoring())) {
        MemorySegment segment = MemorySegment.ofArray(key);
        refused("put", () -> async.put(1, segment, segment));
        refused("delete", () -> async.delete(1, segment));
        refused("putIfAbsent", () -> async.putIfAbsent(1, segment, segment));
        refused("compareAndSet", () -> async.compareAndSet(1, segment, segment, segment));
        refused("compareAndDelete", () -> async.compareAndDelete(1, segment, segment));
      }
      assertArrayEquals(key, erda.get(key));
    }
  }

  private static String refused(String what, Executable call) {
    String said = assertThrows(ErdaException.ReadOnly.class, call).getMessage();
    assertTrue(said.startsWith(what + ": ") && said.contains("?read-only"), said);
    return said;
  }

  private static final class Ignoring implements OperationHandler {
    @Override
    public void onGet(long token, MemorySegment memory, long offset, long length) {}

    @Override
    public void onPut(long token) {}

    @Override
    public void onDelete(long token, boolean existed) {}

    @Override
    public void onError(long token, ErdaException error) {}
  }

  // While a server serves, and grows, and cleans, and is restarted.

  /**
   * Keeps the numbers of the values that were put. A get must find the value that the key had when
   * the get began, or a newer one.
   */
  private final class Writer extends Thread {
    private final String uri;
    private final int[] written = new int[STAYING];
    private final AtomicInteger[] acknowledged = new AtomicInteger[STAYING];
    private final AtomicInteger puts = new AtomicInteger();
    private volatile boolean over;
    private volatile Throwable failed;

    Writer(String uri) {
      super("writer");
      this.uri = uri;
      for (int i = 0; i < STAYING; i++) {
        acknowledged[i] = new AtomicInteger();
      }
    }

    @Override
    public void run() {
      Random random = new Random(SEED);
      try (ErdaClient erda = ErdaClient.connect(uri)) {
        for (int i = 0; i < STAYING; i++) {
          put(erda, random, i);
        }
        while (!over) {
          try {
            put(erda, random, random.nextInt(STAYING));
            erda.put(bytes("new " + puts.get()), new byte[8]);
          } catch (ErdaException.Unavailable | ErdaException.OutcomeUnknown e) {
            // The server is restarted.
          }
        }
      } catch (RuntimeException e) {
        failed = e;
      }
    }

    private void put(ErdaClient erda, Random random, int key) {
      ByteBuffer value = ByteBuffer.allocate(Integer.BYTES + random.nextInt(800));
      value.putInt(0, ++written[key]);
      erda.put(bytes("stays " + key), value.array());
      acknowledged[key].set(written[key]);
      puts.incrementAndGet();
    }

    void await(int count) throws InterruptedException {
      while (puts.get() < count && failed == null) {
        Thread.sleep(1);
      }
    }
  }

  @Test
  void seesWhatWasAcknowledgedWhileTheTableDoublesAndTheLogIsCleaned() throws Exception {
    readBesideAWriter(false);
  }

  @Test
  void seesItWhileTheServerIsRestarted() throws Exception {
    readBesideAWriter(true);
  }

  private void readBesideAWriter(boolean restarts) throws Exception {
    List<ErdaServer> servers = new ArrayList<>();
    servers.add(ErdaServer.start(data, OPTIONS));
    Writer writer = new Writer(servers.getFirst().uri());
    writer.start();
    try (ErdaClient erda = reading();
        ErdaClient figures = ErdaClient.connect(servers.getFirst().uri())) {
      writer.await(STAYING);
      Random random = new Random(SEED);
      int[] seen = new int[STAYING];
      int iterations = 0;
      for (int round = 1; round <= 8; round++) {
        writer.await(STAYING + round * 1500);
        for (int i = 0; i < 2000; i++) {
          int key = random.nextInt(STAYING);
          int before = writer.acknowledged[key].get();
          byte[] value = erda.get(bytes("stays " + key));
          assertTrue(value != null, () -> "stays " + key + " is absent; seed " + SEED);
          int found = ByteBuffer.wrap(value).getInt(0);
          assertTrue(
              found >= before && found >= seen[key], () -> key + ": " + found + " < " + before);
          seen[key] = found;
        }
        Set<String> keys = keys(erda);
        for (int key = 0; key < STAYING; key++) {
          assertTrue(keys.contains("stays " + key), "stays " + key + " was not given");
        }
        iterations++;
        if (restarts) {
          servers.getLast().close();
          servers.add(ErdaServer.start(data, OPTIONS));
        }
      }
      writer.over = true;
      writer.join();
      assertNull(writer.failed);
      assertEquals(8, iterations);
      Map<String, Long> stats = figures.stats();
      assertTrue(stats.get("table.buckets") >= 1 << 13, stats::toString);
      assertTrue(restarts || stats.get("cleaner.cleanings") >= 1, stats::toString);
      // At least the table that it began with was replaced.
      assertTrue(erda.statistics().mapRefreshes() > 0, () -> erda.statistics().toString());
    } finally {
      writer.over = true;
      writer.join();
      servers.getLast().close();
    }
  }

  // While none does.

  private void fill() {
    try (ErdaServer server = ErdaServer.start(data, OPTIONS);
        ErdaClient erda = ErdaClient.connect(server.uri())) {
      for (int i = 0; i < 500; i++) {
        erda.put(bytes("key " + i), bytes("value " + i));
      }
    }
  }

  @Test
  void readsAStoreThatNobodyServes() {
    fill();
    try (ErdaClient erda = reading()) {
      assertArrayEquals(bytes("value 7"), erda.get(bytes("key 7")));
      assertNull(erda.get(bytes("none")));
      assertEquals(500, keys(erda).size());
    }
  }

  /**
   * The table that the map of the previous server names is gone, and the client had never accessed
   * it.
   */
  @Test
  void goesOnWhereAnotherServerHasRemovedTheTableSince() {
    ErdaServer.start(data, OPTIONS.withBuckets(16)).close();
    try (ErdaClient erda = reading()) {
      Path table = data.resolve("table-1");
      assertTrue(Files.exists(table), "the first table");
      fill();
      assertTrue(Files.notExists(table), "the table was not doubled");
      assertArrayEquals(bytes("value 7"), erda.get(bytes("key 7")));
    }
  }

  @Test
  void readsAStoreThatAnApplicationHasOpen() {
    fill();
    try (ErdaStore store = ErdaStore.open(data, OPTIONS);
        ErdaClient own = store.client();
        ErdaClient erda = reading()) {
      own.put(bytes("key 7"), bytes("newer"));
      assertArrayEquals(bytes("newer"), erda.get(bytes("key 7")));
    }
  }

  @Test
  void whereThereIsNoStoreItSaysSo() {
    String said = assertThrows(ErdaException.Unavailable.class, this::reading).getMessage();
    assertTrue(said.contains("there is no store"), said);
  }

  /** After a start of the machine a word may be pending whose put was acknowledged. */
  @Test
  void aStoreThatWasNotRecoveredSinceTheMachineStartedIsNotReadBeforeAServerHadIt()
      throws IOException {
    fill();
    anotherBoot();
    try (ErdaClient erda = reading()) {
      assertArrayEquals(bytes("value 7"), erda.get(bytes("key 7")), "it was stopped cleanly");
    }
    Files.move(data.resolve("stopped"), data.resolve("kept"));
    String said = assertThrows(ErdaException.Unavailable.class, this::reading).getMessage();
    assertTrue(said.contains("recover"), said);
    Files.write(data.resolve("stopped"), new byte[64]);
    assertThrows(ErdaException.Unavailable.class, this::reading, "the record says nothing");
    Files.delete(data.resolve("stopped"));
    ErdaServer.start(data, OPTIONS).close();
    Files.delete(data.resolve("stopped"));
    try (ErdaClient erda = reading()) {
      assertArrayEquals(bytes("value 7"), erda.get(bytes("key 7")));
    }
  }

  private void anotherBoot() throws IOException {
    try (FileChannel root =
        FileChannel.open(
            data.resolve(Root.FILE), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      root.read(word, Root.BOOT_OFFSET);
      assertTrue(word.getLong(0) != 0, "the server says on which start of the machine it began");
      word.putLong(0, word.getLong(0) + 2).rewind();
      root.write(word, Root.BOOT_OFFSET);
    }
  }

  /** An entry that was being moved may be in neither of its places. */
  @Test
  void anOddCounterThatAServerLeftMakesNothingAbsent() throws IOException {
    fill();
    try (FileChannel root =
        FileChannel.open(
            data.resolve(Root.FILE), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      root.read(word, Root.STRUCTURE_COUNTER_OFFSET);
      word.putLong(0, word.getLong(0) | 1).rewind();
      root.write(word, Root.STRUCTURE_COUNTER_OFFSET);
    }
    try (ErdaClient erda = impatient()) {
      assertArrayEquals(bytes("value 7"), erda.get(bytes("key 7")));
      assertThrows(ErdaException.Unavailable.class, () -> erda.get(bytes("none")));
    }
  }

  @Test
  void aStoreThatWasReplacedIsNotReadForEver() throws Exception {
    Path other = data.resolveSibling(data.getFileName() + "-other");
    fill();
    try (ErdaClient erda = impatient()) {
      assertArrayEquals(bytes("value 7"), erda.get(bytes("key 7")));
      Files.move(data, other, StandardCopyOption.ATOMIC_MOVE);
      try {
        assertTrue(endsIn(erda, ErdaException.Unavailable.class).contains("there is no store"));
        Files.createDirectory(data);
        fill();
        assertTrue(endsIn(erda, ErdaException.Refused.class).contains("another store"));
      } finally {
        deleteAll(data);
        Files.move(other, data, StandardCopyOption.ATOMIC_MOVE);
      }
      assertArrayEquals(bytes("value 7"), erda.get(bytes("key 7")));
    }
  }

  private static String endsIn(ErdaClient erda, Class<? extends ErdaException> how)
      throws InterruptedException {
    for (int i = 0; i < 100_000; i++) {
      try {
        erda.get(bytes("key 7"));
        Thread.sleep(0, 10_000);
      } catch (ErdaException e) {
        if (how.isInstance(e)) {
          return e.getMessage();
        }
      }
    }
    throw new AssertionError("never " + how);
  }

  private static void deleteAll(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path each : all.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(each);
      }
    }
  }

  @Test
  void aDamagedObjectIsNamed() throws IOException {
    fill();
    Path region;
    try (Stream<Path> files = Files.list(data)) {
      region =
          files.filter(file -> file.getFileName().toString().startsWith("region-")).findAny().get();
    }
    byte[] content = Files.readAllBytes(region);
    String text = new String(content, java.nio.charset.StandardCharsets.ISO_8859_1);
    int at = text.indexOf("value ");
    content[at] ^= 1;
    Files.write(region, content);
    int end = at + 6;
    while (Character.isDigit(text.charAt(end))) {
      end++;
    }
    byte[] key = bytes("key " + text.substring(at + 6, end));
    try (ErdaClient erda = reading()) {
      assertThrows(ErdaException.Damaged.class, () -> erda.get(key));
      assertEquals(500, keysAndDamaged(erda));
    }
  }

  private static int keysAndDamaged(ErdaClient erda) {
    int count = 0;
    try (KeyCursor keys = erda.keys()) {
      while (true) {
        try {
          if (!keys.next()) {
            return count;
          }
        } catch (ErdaException.Damaged e) {
          // This one counts too.
        }
        count++;
      }
    }
  }

  @Test
  void aShortenedRegionIsDamagedAndTheClientGoesOn() throws IOException {
    fill();
    Map<String, Boolean> found = new TreeMap<>();
    try (ErdaClient erda = reading()) {
      assertArrayEquals(bytes("value 7"), erda.get(bytes("key 7")));
      try (Stream<Path> files = Files.list(data)) {
        for (Path file : files.toList()) {
          if (file.getFileName().toString().startsWith("region-")) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
              channel.truncate(4096);
            }
          }
        }
      }
      for (int i = 0; i < 500; i++) {
        try {
          assertArrayEquals(bytes("value " + i), erda.get(bytes("key " + i)));
          found.put("read", true);
        } catch (ErdaException.Damaged e) {
          assertTrue(e.getMessage().contains("short"), e::getMessage);
          found.put("damaged", true);
        }
      }
    }
    assertEquals(Set.of("damaged", "read"), found.keySet());
  }

  // Nothing is touched.

  @Test
  void nothingIsMadeOrChanged() throws IOException {
    fill();
    Map<String, String> before = state();
    try (ErdaClient erda = reading()) {
      assertEquals(500, keys(erda).size());
      assertThrows(ErdaException.ReadOnly.class, () -> erda.put(bytes("k"), bytes("v")));
      assertEquals(before, state());
      // Nor is anything locked.
      ErdaServer.start(data, OPTIONS).close();
    }
  }

  private Map<String, String> state() throws IOException {
    Map<String, String> state = new TreeMap<>();
    try (Stream<Path> all = Files.walk(data)) {
      for (Path each : all.toList()) {
        Map<String, Object> is =
            Files.readAttributes(each, "unix:lastModifiedTime,ctime,size,mode,ino");
        state.put(each.toString(), new TreeMap<>(is).toString());
      }
    }
    return state;
  }
}
