package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.client.KeyCursor;
import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ServerChild;
import io.erda.protocol.ErdaException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client over shared memory whose process has no room for one more mapping of the store's files
 * (`ulimit -v`). Found by a reviewer: the error of a put said that the object was damaged, so that
 * operators would look for damage of the disk; the errors of gets had no reason; and the error of
 * connecting said that there was no server.
 */
class NoAddressSpaceTest {
  private static final Path PRLIMIT = Path.of("/usr/bin/prlimit");
  private static final String WHY = "can't be mapped: this process has no address space";

  private static final Duration LONG = Duration.ofSeconds(60);

  /** So large that no region fits what the client leaves itself. */
  private static final List<String> LARGE_REGIONS =
      List.of("--region-bytes", "256M", "--capacity", "2G", "--buckets", "4096");

  @TempDir Path directory;

  /** The program of the client. It prints a line for each call: its name, and its result. */
  static final class Confined {
    /** Enough for the JVM, and too little for a region. */
    private static final long ROOM = 40L << 20;

    /** Too little for the files of a connection. */
    private static final long NO_ROOM = 1 << 20;

    private interface Call {
      void run();
    }

    public static void main(String[] args) throws Exception {
      byte[] key = "key".getBytes(UTF_8);
      try (ErdaClient client =
          ErdaClient.connect(
              ErdaUri.parse(args[0]),
              ClientOptions.DEFAULT.withOperationTimeout(Duration.ofSeconds(2)))) {
        limit(String.valueOf(size() + ROOM));
        tell("put", () -> client.put(key, new byte[8000]));
        tell("get", () -> client.get(key));
        tell(
            "keys",
            () -> {
              try (KeyCursor keys = client.keys()) {
                keys.next();
              }
            });
        // This first connection makes the JVM load everything that a connection needs.
        connect(args[0]);
        limit(String.valueOf(size() + NO_ROOM));
        tell("connect", () -> connect(args[0]));
        limit("unlimited");
        tell("put afterwards", () -> client.put(key, "new".getBytes(UTF_8)));
        tell("get afterwards", () -> client.get(key));
      }
    }

    private static void connect(String uri) {
      ErdaClient.connect(
              ErdaUri.parse(uri), ClientOptions.DEFAULT.withConnectTimeout(Duration.ofSeconds(2)))
          .close();
    }

    private static void tell(String name, Call call) {
      try {
        call.run();
        System.out.println(name + ": done");
      } catch (ErdaException e) {
        System.out.println(name + ": " + e.getClass().getSimpleName() + ": " + e.getMessage());
      }
    }

    private static long size() throws Exception {
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("VmSize:")) {
          return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
        }
      }
      throw new AssertionError("no VmSize");
    }

    private static void limit(String bytes) throws Exception {
      long self = ProcessHandle.current().pid();
      Process process =
          new ProcessBuilder(PRLIMIT.toString(), "--pid=" + self, "--as=" + bytes + ":unlimited")
              .inheritIO()
              .start();
      if (process.waitFor() != 0) {
        throw new AssertionError("prlimit failed");
      }
    }
  }

  @Test
  @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void whatCanNotBeMappedIsSaidSo() throws Exception {
    assumeTrue(Files.isExecutable(PRLIMIT), "prlimit is not installed");
    Map<String, String> told = new TreeMap<>();
    try (Children children = new Children()) {
      ServerChild server =
          ServerChild.start(children, Jvm.current(), directory.resolve("data"), LARGE_REGIONS);
      try (ErdaClient other = ErdaClient.connect(server.uri())) {
        other.put("key".getBytes(UTF_8), "old".getBytes(UTF_8));
      }
      Child client =
          children.start("a client", Jvm.current().command(Confined.class, server.uri()));
      for (String call :
          List.of("put", "get", "keys", "connect", "put afterwards", "get afterwards")) {
        told.put(call, client.await(call + ": ", LONG).substring(call.length() + 2));
      }
    }
    assertTells("put", "Unusable: ", told);
    assertTells("get", "Unavailable: ", told);
    assertTells("keys", "Unavailable: ", told);
    assertTells("connect", "Unavailable: ", told);
    assertEquals("done", told.get("put afterwards"), told::toString);
    assertEquals("done", told.get("get afterwards"), told::toString);
  }

  private static void assertTells(String call, String type, Map<String, String> told) {
    String said = told.getOrDefault(call, "nothing");
    assertTrue(said.startsWith(type), told::toString);
    assertTrue(said.contains(WHY), told::toString);
  }
}
