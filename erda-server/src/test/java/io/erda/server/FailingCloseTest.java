package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.erda.client.ErdaClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each close(2) of a store's files returns EIO. Data was made durable by calls that report
 * failures, so a failed close loses nothing, and is not reported.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class FailingCloseTest {
  private static final int KEYS = 400;

  private static final ServerOptions OPTIONS =
      ServerOptions.DEFAULTS
          .withHeads(1)
          .withRegionBytes(1 << 16)
          .withSegmentBytes(1 << 14)
          .withCapacityBytes(16 << 16)
          .withBuckets(8);

  @TempDir private Path directory;

  private static byte[] key(int i) {
    return ("key-" + i).getBytes(UTF_8);
  }

  /** The process whose closes fail: its table grows, and its log is cleaned. */
  public static void main(String[] arguments) {
    try (ErdaStore store = ErdaStore.open(Path.of(arguments[0]), OPTIONS);
        ErdaClient erda = store.client()) {
      for (int round = 0; round < 5; round++) {
        for (int i = 0; i < KEYS; i++) {
          erda.put(key(i), new byte[500 + round]);
        }
      }
      if (erda.stats().get("cleaner.cleanings") == 0 || erda.stats().get("table.doublings") == 0) {
        throw new IllegalStateException("too little happened: " + erda.stats());
      }
      System.out.println("done");
    }
  }

  /** Returns the names that the files of the store may have. */
  private static List<String> names() {
    List<String> names =
        new ArrayList<>(List.of("superblock", "superblock.new", "root", "regions"));
    names.addAll(List.of("stopped", "stopped.new"));
    for (int i = 1; i <= 40; i++) {
      names.add("table-" + i);
      names.add("spare-" + i);
      names.add("left-" + i);
      for (int slot = 0; slot < 16; slot++) {
        names.add("region-" + slot + "-" + i);
      }
    }
    return names;
  }

  private boolean canTrace() throws Exception {
    List<String> command =
        List.of("strace", "-f", "-qq", "-e", "inject=close:error=EIO:when=99", "true");
    try {
      return ChildJvm.run(command, directory.resolve("nothing"), 60) == 0;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void aStoreWhoseFilesCanNotBeClosedLosesNothing() throws Exception {
    assumeTrue(canTrace(), "no strace, or none is allowed here");
    Path data = directory.toRealPath().resolve("data");
    Path trace = directory.resolve("trace");
    Path output = directory.resolve("output");
    List<String> strace = new ArrayList<>(List.of("strace", "-f", "-qq", "-o", trace.toString()));
    strace.addAll(List.of("-e", "trace=close", "-e", "inject=close:error=EIO"));
    for (String name : names()) {
      strace.addAll(List.of("-P", data.resolve(name).toString()));
    }
    List<String> command = ChildJvm.command(strace, FailingCloseTest.class, data.toString());
    int exitCode = ChildJvm.run(command, output, 240);
    String said = Files.readString(output);
    assertEquals(0, exitCode, said);
    assertEquals("done\n", said);
    try (Stream<String> calls = Files.lines(trace)) {
      long failed = calls.filter(line -> line.contains("EIO")).count();
      assertTrue(failed > 10, failed + " closes failed");
    }
    assertTrue(Files.exists(data.resolve("stopped")), "it was stopped cleanly");
    try (ErdaStore store = ErdaStore.open(data, OPTIONS);
        ErdaClient erda = store.client()) {
      assertEquals(List.of(), store.notes());
      for (int i = 0; i < KEYS; i++) {
        byte[] value = erda.get(key(i));
        assertNotNull(value, "key " + i);
        assertEquals(504, value.length, "key " + i);
      }
    }
    assertEquals(List.of(), StoreVerifier.verify(data).findings());
  }
}
