package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the errors of a client over shm when an application has the store open for itself. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HeldStoreTest {
  private static final byte[] KEY = "key".getBytes(UTF_8);
  private static final String TOLD = "the store is open in an application, which serves nobody";

  @TempDir Path directory;

  private Path data() {
    return directory.resolve("data");
  }

  private String uri() {
    return "erda+shm:" + data();
  }

  /** The child of the tests: an application with a store in it. */
  public static void main(String[] arguments) throws IOException {
    try (ErdaStore store = ErdaStore.open(Path.of(arguments[0]), SmallStore.OPTIONS);
        ErdaClient erda = store.client()) {
      erda.put(KEY, KEY);
      System.out.println("open");
      while (System.in.read() >= 0) {
        // Until the parent process closes the pipe.
      }
    }
  }

  private Process hold() throws IOException {
    Process child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                HeldStoreTest.class.getName(),
                data().toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String said =
        new BufferedReader(new InputStreamReader(child.getInputStream(), UTF_8)).readLine();
    assertEquals("open", said);
    return child;
  }

  private String refused() {
    return assertThrows(ErdaException.Refused.class, () -> ErdaClient.connect(uri())).getMessage();
  }

  private String unavailable() {
    return assertThrows(ErdaException.Unavailable.class, () -> ErdaClient.connect(uri()))
        .getMessage();
  }

  /** The store was never served, so there is no socket, no registry, and no directory for them. */
  @Test
  void ofAStoreThatWasNeverServedInAnotherProcess() throws Exception {
    Process holder = hold();
    try {
      String told = refused();
      assertTrue(told.contains(TOLD) && told.contains("?read-only"), told);
      try (ErdaClient reader = ErdaClient.connect(uri() + "?read-only")) {
        assertArrayEquals(KEY, reader.get(KEY));
      }
      assertTrue(
          assertThrows(ErdaException.class, () -> ErdaServer.start(data(), SmallStore.OPTIONS))
              .getMessage()
              .contains("in use"));
    } finally {
      holder.destroyForcibly().waitFor();
    }
    String told = unavailable();
    assertTrue(told.contains("no server is there"), told);
    ErdaServer.start(data(), SmallStore.OPTIONS).close();
  }

  @Test
  void ofAStoreThatWasServedBefore() {
    ErdaServer.start(data(), SmallStore.OPTIONS).close();
    for (int i = 0; i < 2; i++) {
      try (ErdaStore store = ErdaStore.open(data(), SmallStore.OPTIONS)) {
        assertTrue(refused().contains(TOLD), this::refused);
        assertEquals(List.of(), store.notes(), "it was stopped cleanly");
      }
      assertTrue(unavailable().contains("no server is there"), this::unavailable);
    }
  }
}
