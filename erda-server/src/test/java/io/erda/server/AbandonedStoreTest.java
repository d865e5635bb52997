package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store that its application did not close: the JVM still ends, and nothing is lost. */
class AbandonedStoreTest {
  private static final int KEYS = 500;

  @TempDir Path data;

  /** Runs in a separate process: opens a store, puts, and ends without closing it. */
  public static void main(String[] args) {
    ErdaStore store = ErdaStore.open(Path.of(args[0]), SmallStore.OPTIONS);
    ErdaClient erda = store.client();
    for (int i = 0; i < KEYS; i++) {
      erda.put(key(i), value(i, args[1]));
    }
    switch (args[1]) {
      case "throws" -> throw new IllegalStateException("the application fails");
      case "uses it in a hook" ->
          Runtime.getRuntime()
              .addShutdownHook(
                  new Thread(() -> {
                    try (ErdaClient last = store.client()) {
                      last.put(key(0), value(1, args[1]));
                    }
                    store.close();
                  }));
      default -> {
        // Returns.
      }
    }
  }

  private static byte[] key(int i) {
    return ("key-" + i).getBytes(UTF_8);
  }

  private static byte[] value(int i, String how) {
    return ("value of " + i + " by an application that " + how).getBytes(UTF_8);
  }

  @Test
  void jvmEndsWhenMainReturns() throws Exception {
    assertEquals(0, exitCode("returns"));
    check("returns", 0);
  }

  @Test
  void jvmEndsWhenMainThrows() throws Exception {
    assertEquals(1, exitCode("throws"));
    check("throws", 0);
  }

  @Test
  void shutdownHookUsesAndClosesTheStore() throws Exception {
    assertEquals(0, exitCode("uses it in a hook"));
    check("uses it in a hook", 1);
  }

  private void check(String how, int first) {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClient erda = store.client()) {
      assertArrayEquals(value(first, how), erda.get(key(0)));
      for (int i = 1; i < KEYS; i++) {
        assertArrayEquals(value(i, how), erda.get(key(i)));
      }
    }
  }

  /** Returns the exit code of the JVM, which has to end by itself. */
  private int exitCode(String how) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            AbandonedStoreTest.class.getName(),
            data.toString(),
            how));
    Path output = Files.createTempFile(data.getParent(), "abandoned", ".log");
    Process child =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertTrue(child.waitFor(90, TimeUnit.SECONDS), () -> "still runs: " + text(output));
      return child.exitValue();
    } finally {
      child.destroyForcibly().waitFor();
      Files.delete(output);
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (java.io.IOException e) {
      return e.toString();
    }
  }
}
