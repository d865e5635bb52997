package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogStore;
import io.erda.pmem.MappedDirectory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.PutMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store is opened with other options than it was created with: each is refused, applied or
 * mentioned in the notes, and none is ignored.
 */
@Timeout(120)
class OtherOptionsTest {
  private static final int REGION = 1 << 20;
  private static final int VALUE_BYTES = 200_000;

  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withHeads(2)
          .withRegionBytes(REGION)
          .withSegmentBytes(1 << 18)
          .withCapacityBytes(8 * REGION)
          .withBuckets(64);

  @TempDir Path directory;

  private Path data() {
    return directory.resolve("store");
  }

  private static byte[] key(int i) {
    return ("key " + i).getBytes(UTF_8);
  }

  private static byte[] value(int i) {
    byte[] value = new byte[VALUE_BYTES];
    value[i % VALUE_BYTES] = (byte) (i + 1);
    return value;
  }

  /** Puts keys until the log is full, or there are so many; returns how many there are. */
  private static int fill(ErdaClient erda, int from, int most) {
    for (int i = from; i < most; i++) {
      try {
        erda.put(key(i), value(i));
      } catch (ErdaException.Full e) {
        return i;
      }
    }
    return most;
  }

  private static void requireAll(ErdaClient erda, int count) {
    for (int i = 0; i < count; i++) {
      assertArrayEquals(value(i), erda.get(key(i)), "key " + i);
    }
  }

  private String refusal(ServerOptions options) {
    String embedded =
        assertThrows(ErdaException.Unusable.class, () -> ErdaStore.open(data(), options))
            .getMessage();
    String served =
        assertThrows(ErdaException.Unusable.class, () -> ErdaServer.start(data(), options))
            .getMessage();
    assertEquals(embedded, served);
    return served;
  }

  @Test
  void whatCannotBeChangedIsRefusedWithBothValues() throws IOException {
    ErdaStore.open(data(), SMALL).close();
    Map<UnaryOperator<ServerOptions>, List<String>> others =
        Map.of(
            options -> options.withHeads(4), List.of("heads", "2", "4"),
            options -> options.withRegionBytes(2 * REGION), List.of("region", "1048576", "2097152"),
            options -> options.withSegmentBytes(1 << 17), List.of("segment", "262144", "131072"),
            options -> options.withPutMode(PutMode.ANNOUNCE),
                List.of("put mode", "PUBLISH", "ANNOUNCE"));
    others.forEach((change, words) -> {
      String refusal = refusal(change.apply(ServerOptions.DEFAULTS));
      words.forEach(word -> assertTrue(refusal.contains(word), refusal));
    });
    assertTrue(Files.exists(data().resolve("stopped")), "who is refused changes nothing");
    try (ErdaStore store = ErdaStore.open(data(), SMALL)) {
      assertEquals(List.of(), store.notes());
    }
    try (ErdaStore store = ErdaStore.open(data())) {
      assertEquals(List.of(), store.notes(), "who says nothing is told nothing");
    }
  }

  @Test
  void bucketsThatHaveNoEffectAreTold() {
    ErdaStore.open(data(), SMALL).close();
    try (ErdaStore store = ErdaStore.open(data(), SMALL.withBuckets(128).withBucketsMax(32))) {
      String notes = String.join("\n", store.notes());
      assertTrue(notes.contains("128 buckets (--buckets) have no effect: the store has 64"), notes);
      assertTrue(notes.contains("32 buckets (--buckets-max)"), notes);
    }
  }

  @Test
  void theCapacityIsRaisedAndIsUsed() throws IOException {
    int before;
    try (ErdaStore store = ErdaStore.open(data(), SMALL);
        ErdaClient erda = store.client()) {
      before = fill(erda, 0, 1000);
    }
    assertTrue(before > 10 && before < 40, before + " values of 200 kB in 8 MiB");
    try (ErdaStore store = ErdaStore.open(data(), SMALL.withCapacityBytes(200 * REGION));
        ErdaClient erda = store.client()) {
      assertEquals(
          List.of("raised the capacity from 8388608 to 209715200 bytes, as was asked"),
          store.notes());
      assertEquals(200, fill(erda, before, 200));
      requireAll(erda, 200);
    }
    assertTrue(StoreVerifier.verify(data()).findings().isEmpty());
    try (ErdaStore store = ErdaStore.open(data());
        ErdaClient erda = store.client()) {
      assertEquals(List.of(), store.notes(), "it is remembered");
      requireAll(erda, 200);
      assertEquals(300, fill(erda, 200, 300));
    }
  }

  @Test
  void theCapacityIsLoweredAndHolds() throws Exception {
    try (ErdaStore store = ErdaStore.open(data(), SMALL.withCapacityBytes(100 * REGION));
        ErdaClient erda = store.client()) {
      assertEquals(60, fill(erda, 0, 60));
    }
    String refusal = refusal(ServerOptions.DEFAULTS.withCapacityBytes(8 * REGION));
    assertTrue(refusal.contains("(--capacity) can't be 8388608 bytes"), refusal);
    assertTrue(refusal.contains("erda clean"), refusal);
    long least = Long.parseLong(refusal.replaceFirst("(?s).*so at least (\\d+);.*", "$1"));
    refusal(ServerOptions.DEFAULTS.withCapacityBytes(least - 1));
    try (ErdaStore store = ErdaStore.open(data(), ServerOptions.DEFAULTS.withCapacityBytes(least));
        ErdaClient erda = store.client()) {
      assertEquals(least, store.figures(Duration.ofSeconds(10)).get("log.bytes.capacity"));
      requireAll(erda, 60);
      int full = fill(erda, 60, 1000);
      assertTrue(full * (long) VALUE_BYTES < least, full + " values in " + least);
      requireAll(erda, full);
      // A full store goes on: it is cleaned, and puts fit again.
      for (int i = 0; i < 40; i++) {
        erda.delete(key(i));
      }
      for (int round = 0; round < 200; round++) {
        erda.put(key(1000 + round % 5), value(round));
      }
    }
    try (ErdaStore store =
            ErdaStore.open(data(), ServerOptions.DEFAULTS.withCapacityBytes(64 * REGION));
        ErdaClient erda = store.client()) {
      assertTrue(store.notes().getFirst().startsWith("raised the capacity"), store.notes() + "");
      assertArrayEquals(value(50), erda.get(key(50)));
    }
    assertTrue(StoreVerifier.verify(data()).findings().isEmpty());
  }

  @Test
  void aCapacityThatTheStoreCannotReachIsRefused() {
    ErdaStore.open(data(), SMALL).close();
    assertTrue(refusal(ServerOptions.DEFAULTS.withCapacityBytes(REGION)).contains("2 heads"));
    assertTrue(
        refusal(ServerOptions.DEFAULTS.withCapacityBytes(33L << 30)).contains("reaches 16 GiB"));
    assertTrue(
        refusal(ServerOptions.DEFAULTS.withCapacityBytes(20L << 30)).contains("clients reach"));
  }

  /** A kill between the two steps of raising: the table is longer than the superblock says. */
  @Test
  void aRegionTableThatIsLongerThanTheSuperblockSaysIsNoDamage() throws IOException {
    try (ErdaStore store = ErdaStore.open(data(), SMALL);
        ErdaClient erda = store.client()) {
      fill(erda, 0, 10);
    }
    Files.delete(data().resolve("stopped"));
    try (MappedDirectory files = MappedDirectory.open(data())) {
      LogGeometry geometry = new LogGeometry(2, REGION, 1 << 18, 8);
      LogStore.makeSlots(files, geometry.withRegionsMax(300));
    }
    assertTrue(StoreVerifier.verify(data()).findings().isEmpty());
    try (ErdaStore store = ErdaStore.open(data());
        ErdaClient erda = store.client()) {
      requireAll(erda, 10);
    }
    try (ErdaStore store = ErdaStore.open(data(), SMALL.withCapacityBytes(100 * REGION));
        ErdaClient erda = store.client()) {
      assertEquals(100, fill(erda, 10, 100));
    }
  }

  /** A client that only reads the files goes on over both starts, and finds what came then. */
  @Test
  void whoReadsTheFilesFollowsARaisedCapacity() {
    ErdaServer first = ErdaServer.start(data(), SMALL);
    try (ErdaClient writer = ErdaClient.connect(first.uri())) {
      fill(writer, 0, 10);
    }
    try (ErdaClient reader =
        ErdaClient.connect(new ErdaUri.Shm(data(), true), ClientOptions.DEFAULT)) {
      requireAll(reader, 10);
      first.close();
      try (ErdaServer second = ErdaServer.start(data(), SMALL.withCapacityBytes(200 * REGION));
          ErdaClient writer = ErdaClient.connect(second.uri())) {
        assertEquals(150, fill(writer, 10, 150));
        requireAll(reader, 150);
      }
      requireAll(reader, 150);
    }
  }

  // A start that fails.

  private void assertLeavesNothing(ServerOptions options) throws IOException {
    Path made = directory.resolve("above").resolve("new");
    assertThrows(ErdaException.class, () -> ErdaServer.start(made, options));
    assertTrue(Files.notExists(directory.resolve("above")), "it left a directory");
    Path empty = Files.createDirectory(directory.resolve("empty"));
    assertThrows(ErdaException.class, () -> ErdaServer.start(empty, options));
    try (Stream<Path> files = Files.list(empty)) {
      assertEquals(List.of(), files.toList(), "it left files");
    }
    Files.delete(empty);
  }

  private static ServerOptions listening(String address, Map<String, String> files) {
    return SMALL.withListening(List.of(new Listening("erda", address, files)));
  }

  @Test
  void aStartThatFailsLeavesNoNewStore() throws IOException {
    try (ErdaServer other =
        ErdaServer.start(directory.resolve("other"), listening("127.0.0.1:0", Map.of()))) {
      String taken = other.uris().get(1).substring("erda://".length());
      assertLeavesNothing(listening(taken, Map.of()));
    }
    assertLeavesNothing(listening("127.0.0.1:0", Map.of("secret-file", "/no/such/secret")));
    assertLeavesNothing(
        listening("127.0.0.1:0", Map.of("tls-cert", "/no/such/cert", "tls-key", "/no/such/key")));
    assertLeavesNothing(listening("no-port", Map.of()));
    assertLeavesNothing(SMALL.withGroup("no-such-group"));
  }

  @Test
  void aStartThatFailsLeavesAStoreThatWasThere() throws IOException {
    try (ErdaStore store = ErdaStore.open(data(), SMALL);
        ErdaClient erda = store.client()) {
      fill(erda, 0, 10);
    }
    ServerOptions failing = listening("127.0.0.1:0", Map.of("secret-file", "/no/such/secret"));
    assertThrows(ErdaException.class, () -> ErdaServer.start(data(), failing));
    try (ErdaStore store = ErdaStore.open(data(), SMALL);
        ErdaClient erda = store.client()) {
      requireAll(erda, 10);
    }
  }
}
