package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.client.ErdaClient;
import io.erda.server.ErdaServer;
import io.erda.server.ServerOptions;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands with endless output end when their reader has left, as {@code head} does. */
class LostReaderTest {
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 18)
          .withCapacityBytes(4 << 20)
          .withBuckets(256);

  private static final int VALUE_BYTES = 100_000;

  /** A pipe without a reader, which counts the writes. */
  private static final class Broken extends OutputStream {
    private int writes;

    @Override
    public void write(int value) throws IOException {
      writes++;
      throw new IOException("Broken pipe");
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      write(0);
    }
  }

  @TempDir Path directory;

  private final Broken pipe = new Broken();
  private final StringWriter err = new StringWriter();
  private ErdaServer server;

  @BeforeEach
  void serve() {
    server = ErdaServer.start(directory.resolve("data"), SMALL);
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      for (int i = 0; i < 10; i++) {
        client.put(("key " + i).getBytes(UTF_8), new byte[VALUE_BYTES]);
      }
    }
  }

  @AfterEach
  void end() {
    server.close();
  }

  @Test
  void export() {
    assertEquals(0, run("export", "--uri", server.uri()));
    assertEquals(1, pipe.writes);
  }

  @Test
  void keys() {
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      for (int i = 0; i < 300; i++) {
        client.put((i + "k".repeat(1_000)).getBytes(UTF_8), new byte[1]);
      }
    }
    assertEquals(0, run("keys", "--uri", server.uri()));
    assertEquals(1, pipe.writes);
  }

  @Test
  void top() {
    assertEquals(0, run("top", "--count", "3", "--uri", server.uri()));
    assertEquals(1, pipe.writes);
  }

  private int run(String... args) {
    PrintStream standardOut = System.out;
    PrintStream out = new PrintStream(pipe, true, UTF_8);
    System.setOut(out);
    try {
      return Main.run(new PrintWriter(out, true, UTF_8), new PrintWriter(err), false, args);
    } finally {
      System.setOut(standardOut);
    }
  }
}
