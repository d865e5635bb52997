package io.erda.launcher.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests the text of a view of {@code erda top}. */
class TopViewTest {
  @Test
  void ratesAndSizes() {
    Map<String, Long> before = new HashMap<>();
    before.put("puts", 1_000L);
    before.put("deletes", 500L);
    before.put("server.cpu.ns", 0L);
    before.put("objects.bytes.published", 0L);
    Map<String, Long> now = new HashMap<>(before);
    now.put("puts", 5_000L);
    now.put("deletes", 10L); // begun anew
    now.put("server.cpu.ns", 500_000_000L);
    now.put("objects.bytes.published", 4L << 20);
    now.put("server.version=1.2", 1L);
    now.put("server.uptime.ns", 3_720_000_000_000L);
    now.put("connections", 3L);
    now.put("log.bytes.used", 1L << 30);
    now.put("log.bytes.capacity", 4L << 30);
    now.put("table.entries", -1L);
    now.put("table.buckets", 64L);
    now.put("requests.time.put.p50.ns", 720L);
    now.put("requests.time.put.p99.ns", 12_300L);
    now.put("requests.time.lease.p50.ns", -1L);
    String view = TopView.of("erda+shm:/d", before, now, 2_000_000_000L);
    assertTrue(view.startsWith("erda+shm:/d  version 1.2, up 1 h 2 min, 3 clients\n"), view);
    assertLine("puts 2,000 2.0 MiB", view);
    assertLine("deletes 0", view);
    assertLine("processor time 25%", view);
    assertLine("log 1.0 GiB 4.0 GiB 25.0%", view);
    assertLine("table – 64", view);
    assertLine("puts and deletes 720 ns 12.3 µs", view);
    assertLine("requests for space – –", view);
    String first = TopView.of("erda+shm:/d", null, now, 2_000_000_000L);
    assertLine("puts – –", first);
    now.put("store.readonly.reason=a file was shortened", 1L);
    assertTrue(
        TopView.of("u", before, now, 1).contains("\nREAD ONLY: a file was shortened\n"), view);
  }

  private static void assertLine(String line, String view) {
    assertEquals(
        1, view.lines().filter(each -> each.replaceAll(" +", " ").equals(line)).count(), view);
  }
}
