package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException.Full;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the events that a server records with Java Flight Recorder, as read from a recording. */
class EventsTest {
  private static final int REGION_BYTES = 1 << 16;
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withHeads(1)
          .withRegionBytes(REGION_BYTES)
          .withSegmentBytes(4096)
          .withCapacityBytes(8L * REGION_BYTES)
          .withBuckets(16)
          .withConnectionsMax(2);

  @TempDir Path directory;

  @Test
  void aRecordingHoldsWhatHappened() throws IOException {
    Path file = directory.resolve("erda.jfr");
    Map<String, Long> figures;
    try (Recording recording = new Recording()) {
      recording.start();
      figures = workAndFill();
      ErdaStore.open(directory.resolve("data"), SMALL).close();
      recording.stop();
      recording.dump(file);
    }
    Map<String, List<RecordedEvent>> events =
        RecordingFile.readAllEvents(file).stream()
            .filter(event -> event.getEventType().getName().startsWith("io.erda."))
            .collect(Collectors.groupingBy(event -> event.getEventType().getName()));

    List<RecordedEvent> cleanings = events.get("io.erda.Cleaning");
    List<RecordedEvent> freed =
        cleanings.stream().filter(each -> each.getBoolean("freed")).toList();
    assertTrue(freed.size() >= figures.get("cleaner.cleanings"), figures::toString);
    long copied = cleanings.stream().mapToLong(each -> each.getLong("bytesCopied")).sum();
    assertTrue(copied >= figures.get("cleaner.bytes.copied"), copied + " of " + figures);
    for (RecordedEvent cleaning : freed) {
      assertEquals(0, cleaning.getInt("head"));
      assertTrue(cleaning.getInt("generation") > 0, cleaning::toString);
      // Objects that died during the copying need no copy, and after a crash some would be copied
      // again.
      assertTrue(cleaning.getLong("bytesLive") < REGION_BYTES, cleaning::toString);
      assertTrue(
          cleaning.getLong("bytesCopied") <= cleaning.getLong("bytesLive"), cleaning::toString);
      assertTrue(
          cleaning.getLong("bytesCopied") == 0 || cleaning.getInt("rounds") > 0,
          cleaning::toString);
      assertTrue(cleaning.getDuration().toNanos() > 0, cleaning::toString);
    }

    // Several threads take the steps of an embedded store, and a recording keeps no order of
    // theirs.
    List<RecordedEvent> doublings =
        events.get("io.erda.Doubling").stream()
            .sorted(Comparator.comparing(RecordedEvent::getStartTime))
            .toList();
    assertEquals(figures.get("table.doublings"), doublings.size());
    for (int i = 0; i < doublings.size(); i++) {
      assertEquals(16L << i, doublings.get(i).getLong("fromBuckets"));
      assertEquals(32L << i, doublings.get(i).getLong("toBuckets"));
    }

    assertEquals(2, events.get("io.erda.Recovery").size());
    assertEquals(generations(freed), generations(events.get("io.erda.RegionRetired")));
    assertEquals(generations(freed), generations(events.get("io.erda.RegionReleased")));
    assertTrue(
        generations(events.get("io.erda.RegionLinked")).containsAll(generations(freed)),
        events::toString);

    List<RecordedEvent> late = events.get("io.erda.ClientWaitedFor");
    assertFalse(late.isEmpty());
    for (RecordedEvent client : late) {
      assertEquals(ProcessHandle.current().pid(), client.getLong("clientPid"));
      assertTrue(client.getInt("clientId") > 0);
    }
    Set<String> full =
        events.get("io.erda.SpaceExhausted").stream()
            .map(event -> event.getString("what"))
            .collect(Collectors.toSet());
    assertEquals(Set.of("LOG", "CONNECTIONS"), full);
  }

  /**
   * This needs a separate process, because recordings of other tests in this process can't be
   * undone.
   */
  @Test
  void jfrIsNotSetUpWhereNobodyRecords() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Xlog:class+init=info",
                "-cp",
                System.getProperty("java.class.path"),
                Unrecorded.class.getName(),
                directory.resolve("data").toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertEquals(0, process.waitFor(), said);
    assertTrue(said.contains("io/erda/server/engine/service/ServerCore"), said);
    assertFalse(said.contains("'jdk/jfr/internal/JVM'"), "JFR was set up");
  }

  static final class Unrecorded {
    public static void main(String[] args) {
      try (ErdaStore store = ErdaStore.open(Path.of(args[0]), SMALL);
          ErdaClient erda = store.client()) {
        for (int i = 0; i < 500; i++) {
          erda.put(key(i % 100), new byte[1000]);
        }
      }
    }
  }

  /** Overwrites the store beside a client that does nothing, then fills it up. */
  private Map<String, Long> workAndFill() {
    try (ErdaStore store = ErdaStore.open(directory.resolve("data"), SMALL);
        ErdaClient idle = store.client();
        ErdaClient erda = store.client()) {
      idle.put(key(0), new byte[100]);
      for (int i = 0; i < 5000; i++) {
        erda.put(key(i % 100), new byte[1000]);
      }
      assertThrows(
          Full.class,
          () -> {
            try (ErdaClient third = store.client()) {
              third.get(key(1));
            }
          });
      assertThrows(
          Full.class,
          () -> {
            for (int i = 0; i < 1000; i++) {
              erda.put(key(i), new byte[2000]);
            }
          });
      Map<String, Long> figures = erda.stats();
      // The one that does nothing knew regions that were retired; how many wait for it is chance.
      long deadline = System.nanoTime() + 30_000_000_000L;
      while (figures.get("cleaner.leaving.late") == 0 && System.nanoTime() < deadline) {
        LockSupport.parkNanos(10_000_000);
        figures = erda.stats();
      }
      return figures;
    }
  }

  private static byte[] key(int i) {
    return ("key" + i).getBytes(UTF_8);
  }

  private static Set<Integer> generations(List<RecordedEvent> events) {
    return events.stream()
        .map(event -> event.getInt("generation"))
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
