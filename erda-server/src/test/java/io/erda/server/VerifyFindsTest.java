package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.hashtable.KeyHash;
import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Faults of a store's tables that no checksum of an object shows. In a store that was stopped
 * cleanly an opening refuses each fault, and {@code verify} reports its place. In a store that was
 * killed {@code verify} reports certain damage as findings, and the rest as doubts.
 */
class VerifyFindsTest {
  private static final long SEED = Long.getLong("erda.seed", 20261122L);
  private static final int KEYS = 40;
  private static final long ENTRIES = 4096;
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withHeads(2)
          .withRegionBytes(1 << 16)
          .withSegmentBytes(4096)
          .withCapacityBytes(1 << 20)
          .withBuckets(1024);

  @TempDir Path data;
  private byte[] tableOfFirstValues;

  @BeforeEach
  void create() throws IOException {
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient erda = store.client()) {
      for (int i = 0; i < KEYS; i++) {
        erda.put(key(i), value(i, 1));
      }
    }
    tableOfFirstValues = Files.readAllBytes(table());
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient erda = store.client()) {
      for (int i = 0; i < KEYS; i++) {
        erda.put(key(i), value(i, 2));
      }
    }
    assertTrue(StoreVerifier.verify(data).proven());
  }

  private static byte[] key(int i) {
    return ("a key named " + i).getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] value(int i, int version) {
    byte[] value = new byte[30 + i];
    Arrays.fill(value, (byte) version);
    return value;
  }

  private Path table() {
    return data.resolve("table-1");
  }

  private interface Fault {
    void on(ByteBuffer file);
  }

  private void change(Path file, Fault fault) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    fault.on(bytes);
    Files.write(file, bytes.array());
  }

  /** The place in the table of some entry in use. */
  private static int anEntry(ByteBuffer table) {
    for (int at = (int) ENTRIES; ; at += 16) {
      if (table.getLong(at + 8) != 0) {
        return at;
      }
    }
  }

  private static void flip(ByteBuffer file, int at, long mask) {
    file.putLong(at, file.getLong(at) ^ mask);
  }

  /** Makes the store as after a kill: there is no record of the tables. */
  private void forgetTheStop() throws IOException {
    Files.delete(data.resolve("stopped"));
  }

  private void assertRefused(String file) {
    ErdaException.Damaged refusal =
        assertThrows(ErdaException.Damaged.class, () -> ErdaStore.open(data, SMALL));
    assertTrue(refusal.getMessage().contains(file + ": bytes "), refusal.getMessage());
    VerifyReport report = StoreVerifier.verify(data);
    assertFalse(report.proven());
    assertTrue(
        report.findings().stream().anyMatch(it -> it.what().startsWith(file + ": bytes ")),
        report.findings().toString());
    assertThrows(ErdaException.Damaged.class, () -> ErdaStore.open(data, SMALL), "verify heals it");
    requireSums(report);
  }

  private static void requireSums(VerifyReport report) {
    assertEquals(
        report.entries(),
        report.values() + report.tombstones() + report.undecided() + report.damaged());
  }

  /** The finding, or else the doubt, about some key. */
  private VerifyReport.Finding only(List<VerifyReport.Finding> findings) {
    assertEquals(1, findings.size(), findings.toString());
    return findings.getFirst();
  }

  private static int indexOf(byte[] key) {
    return Integer.parseInt(new String(key, StandardCharsets.UTF_8).substring(12));
  }

  private byte[] get(byte[] key) {
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient erda = store.client()) {
      return erda.get(key);
    }
  }

  /** A store whose hash is not the one that is compared with has no key in its place. */
  @Test
  void aHashThatIsAnother() {
    assertEquals(0, StoreVerifier.verify(data).findingsCount());
    VerifyReport report =
        StoreVerifier.verify(
            data,
            (what, done, all) -> {},
            seed -> (segment, offset, length) -> ~new KeyHash(seed).of(segment, offset, length));
    assertTrue(report.findingsCount() >= KEYS, report.findingsCount() + " findings");
  }

  @Test
  void aHeadThatDoesNotExist() throws IOException {
    change(table(), table -> flip(table, anEntry(table), 1L << 60));
    assertRefused("table-1");
    forgetTheStop();
    VerifyReport report = StoreVerifier.verify(data);
    VerifyReport.Finding finding = only(report.findings());
    assertTrue(finding.what().contains("the store has 2 heads"), finding.what());
    assertEquals(1, report.damaged());
    assertEquals(KEYS - 1, report.values());
    requireSums(report);
    assertNull(get(finding.key()), "the key that was named is the one that is lost");
  }

  @Test
  void aPendingBitBelowTheLowMark() throws IOException {
    change(table(), table -> flip(table, anEntry(table) + 8, 1));
    assertRefused("table-1");
    forgetTheStop();
    VerifyReport.Finding finding = only(StoreVerifier.verify(data).findings());
    assertTrue(finding.what().contains("marked as not committed"), finding.what());
    assertArrayEquals(value(indexOf(finding.key()), 1), get(finding.key()), "an old value");
  }

  @Test
  void theTagBit() throws IOException {
    change(table(), table -> flip(table, anEntry(table) + 8, 1L << 63));
    assertRefused("table-1");
    forgetTheStop();
    VerifyReport report = StoreVerifier.verify(data);
    assertEquals(List.of(), report.findings());
    VerifyReport.Finding doubt = only(report.doubts());
    assertArrayEquals(value(indexOf(doubt.key()), 1), get(doubt.key()), "an old value");
  }

  @Test
  void aVersionWordOfZero() throws IOException {
    change(table(), table -> table.putLong(anEntry(table) + 8, 0));
    assertRefused("table-1");
    forgetTheStop();
    VerifyReport report = StoreVerifier.verify(data);
    assertEquals(List.of(), report.findings());
    assertNull(get(only(report.doubts()).key()), "a key that is lost");
  }

  @Test
  void aPageOfZeros() throws IOException {
    int[] lost = new int[1];
    change(
        table(),
        table -> {
          for (int at = 2 * 4096; at < 3 * 4096; at += 8) {
            lost[0] += at % 16 == 8 && table.getLong(at) != 0 ? 1 : 0;
            table.putLong(at, 0);
          }
        });
    assertTrue(lost[0] > 0, "seed of the store's hash: nothing lay there");
    assertRefused("table-1");
    forgetTheStop();
    VerifyReport report = StoreVerifier.verify(data);
    assertEquals(lost[0], report.doubts().size(), report.doubts().toString());
    for (VerifyReport.Finding doubt : report.doubts()) {
      assertNull(get(doubt.key()));
    }
  }

  @Test
  void anOlderTable() throws IOException {
    Files.write(table(), tableOfFirstValues);
    assertRefused("table-1");
    forgetTheStop();
    assertEquals(KEYS, StoreVerifier.verify(data).doubts().size(), "every key");
    assertArrayEquals(value(3, 1), get(key(3)), "an old value");
  }

  /** The key that is lost is the entry's, not the one whose object it leads to. */
  @Test
  void anOffsetThatLeadsToAnotherKey() throws IOException {
    change(
        table(),
        table -> {
          int first = anEntry(table);
          int second = first + 16;
          while (table.getLong(second + 8) == 0
              || table.getLong(second) >>> 56 != table.getLong(first) >>> 56) {
            second += 16;
          }
          table.putLong(second + 8, table.getLong(first + 8));
        });
    assertRefused("table-1");
    forgetTheStop();
    VerifyReport report = StoreVerifier.verify(data);
    assertTrue(
        report.findings().stream().anyMatch(it -> it.what().contains("object of another key")),
        report.findings().toString());
    for (VerifyReport.Finding finding : report.findings()) {
      assertNull(get(finding.key()), "the key that was named is the one that is lost");
    }
    assertEquals(KEYS - 1, report.values());
    requireSums(report);
  }

  @Test
  void aMarkOfTheRegionTable() throws IOException {
    change(data.resolve("regions"), regions -> flip(regions, 4096 + 8, 1 << 15));
    assertRefused("regions");
  }

  /** The record belongs to an earlier opening, so it proves nothing about the present state. */
  @Test
  void anOlderRecordOfAStop() throws IOException {
    byte[] older = Files.readAllBytes(data.resolve("stopped"));
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient erda = store.client()) {
      assertFalse(Files.exists(data.resolve("stopped")), "a server runs");
      erda.put(key(1), value(1, 3));
    }
    Files.write(data.resolve("stopped"), older);
    VerifyReport report = StoreVerifier.verify(data);
    assertFalse(report.proven());
    assertTrue(only(report.findings()).what().contains("incarnation"), "verify says so");
    assertArrayEquals(value(1, 3), get(key(1)));
  }

  @Test
  void aDamagedRecordOfAStop() throws IOException {
    change(data.resolve("stopped"), stopped -> flip(stopped, 80, 4));
    try (ErdaStore store = ErdaStore.open(data, SMALL)) {
      assertTrue(store.notes().toString().contains("checksum is wrong"), store.notes().toString());
    }
    assertTrue(StoreVerifier.verify(data).proven(), "the next stop writes another");
    for (int length : new int[] {0, 1, 63, 100}) {
      byte[] whole = Files.readAllBytes(data.resolve("stopped"));
      Files.write(data.resolve("stopped"), Arrays.copyOf(whole, length));
      ErdaStore.open(data, SMALL).close();
    }
  }

  /** Bytes that say nothing at every place: the time for each is bounded. */
  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  void aRegionOfRandomBytes() throws IOException {
    Random random = new Random(SEED);
    try (Stream<Path> files = Files.list(data)) {
      files
          .filter(file -> file.getFileName().toString().startsWith("region-"))
          .forEach(file -> fillRandomly(file, random));
    }
    VerifyReport report = StoreVerifier.verify(data);
    assertEquals(KEYS, report.damaged(), "seed " + SEED);
    requireSums(report);
  }

  private static void fillRandomly(Path file, Random random) {
    try {
      byte[] bytes = Files.readAllBytes(file);
      byte[] header = Arrays.copyOf(bytes, 64);
      random.nextBytes(bytes);
      System.arraycopy(header, 0, bytes, 0, 64);
      Files.write(file, bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The content of such a file is unknown, so the store is reported neither as damaged nor as
   * sound.
   */
  @Test
  void aFileThatCanNotBeOpenedIsToldAndIsNoDamage() throws IOException {
    List<String> names;
    try (Stream<Path> files = Files.list(data)) {
      names =
          files
              .map(each -> each.getFileName().toString())
              .filter(each -> each.matches("root|regions|table-.*|region-.*"))
              .toList();
    }
    assertTrue(names.size() >= 4, names.toString());
    Path elsewhere = data.resolveSibling(data.getFileName() + ".elsewhere");
    for (String name : names) {
      Path file = data.resolve(name);
      Files.move(file, elsewhere);
      try {
        // A symbolic link is refused when it is opened, by any user.
        Files.createSymbolicLink(file, elsewhere);
        String said =
            assertThrows(
                    ErdaException.Unusable.class,
                    () -> StoreVerifier.verify(data),
                    "verify " + name)
                .getMessage();
        assertTrue(said.contains(name) && said.contains("not a regular file"), said);
      } finally {
        Files.deleteIfExists(file);
        Files.move(elsewhere, file);
      }
    }
    assertTrue(StoreVerifier.verify(data).proven());
  }
}
