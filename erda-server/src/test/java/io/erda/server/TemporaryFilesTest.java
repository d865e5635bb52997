package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server needs no directory for temporary files, and leaves nothing there: its helper threads
 * live on where no native library can be unpacked, neither there nor where the process runs.
 */
class TemporaryFilesTest {
  @TempDir Path directory;

  @Test
  void theHelperThreadsLiveWhereNothingCanBeUnpacked() throws Exception {
    Path missing = directory.resolve("missing");
    try (ServedElsewhere server =
            ServedElsewhere.start(directory.resolve("data"), "-Djava.io.tmpdir=" + missing);
        ErdaClient client = server.connect()) {
      putSome(client);
      // The files of cleaned regions, which the thread for pages gives back.
      String threads = server.threads();
      assertTrue(threads.contains("erda-pages\n"), threads);
      assertTrue(threads.contains("erda-files\n"), threads);
      assertEquals(0L, client.stats().get("pages.failures"));
      String output = server.output();
      assertTrue(!output.contains("Exception in thread"), output);
    }
  }

  /** Enough for heads to have appended, and for regions to be cleaned. */
  private static void putSome(ErdaClient client) throws InterruptedException {
    byte[] value = new byte[10_000];
    for (int i = 0; i < 20_000; i++) {
      client.put(("key " + i % 50).getBytes(UTF_8), value);
    }
    Thread.sleep(200);
  }
}
