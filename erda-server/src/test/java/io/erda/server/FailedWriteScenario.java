package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.server.engine.files.StoreFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** The part of {@link FailedWriteTest} that runs in a separate process, beside its device. */
final class FailedWriteScenario {
  private static final ServerOptions OPTIONS =
      ServerOptions.DEFAULTS
          .withHeads(1)
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 16)
          .withCapacityBytes(64 << 20)
          .withBuckets(1024);

  private static final int KEYS = 1000;
  private static final long PATIENCE_NS = 60_000_000_000L;

  private FailedWriteScenario() {}

  /** Arguments: the scenario, where the device is mounted, and the directory that it is in. */
  public static void main(String[] arguments) throws Exception {
    Path data = Path.of(arguments[1]).resolve("data");
    Path rest = Path.of(arguments[2]).resolve("rest");
    try {
      switch (arguments[0]) {
        case "before" -> before(data, rest);
        case "promised" -> promised(data, rest);
        case "read-only" -> readOnly(data);
        default -> failedWrites(data, rest, arguments[0].equals("served"));
      }
      System.out.println("done");
    } catch (Throwable e) {
      e.printStackTrace();
      // A server that was started keeps this process alive.
      System.exit(1);
    }
  }

  /**
   * The device fails after the first server has ended, so the start of the second one is the first
   * to hear of it.
   */
  private static void before(Path data, Path rest) throws Exception {
    ErdaServer first = ErdaServer.start(data, OPTIONS);
    putAll(first, data, rest);
    first.close();
    require(sync(data) != 0, "the device took everything");
    try {
      ErdaServer.start(data, OPTIONS).close();
      require(false, "a start on a device that does not take the store");
    } catch (ErdaException.Unusable | ErdaException.Full e) {
      System.out.println(e.getMessage());
      require(e.getMessage().matches(".*(has no room|does not take them) now.*"), e.getMessage());
    }
    requireWrittenAgain(data, rest);
  }

  /** The start itself is told of the error, by the fsync(2) that makes everything durable. */
  private static void promised(Path data, Path rest) throws Exception {
    ErdaServer first = ErdaServer.start(data, OPTIONS);
    putAll(first, data, rest);
    first.close();
    try {
      ErdaServer.start(data, OPTIONS.withPromise(Promise.POWER)).close();
      require(false, "power is promised for what the device did not take");
    } catch (ErdaException.Unusable | ErdaException.Full e) {
      System.out.println(e.getMessage());
    }
    requireWrittenAgain(data, rest);
  }

  private static void readOnly(Path data) throws Exception {
    ErdaServer server = ErdaServer.start(data, OPTIONS);
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      client.put(key(1), value());
      String device = Files.getFileStore(data).name();
      Path error = Path.of("/sys/fs/ext4", Path.of(device).getFileName().toString());
      Files.writeString(error.resolve("trigger_fs_error"), "1");
      requireRefused(server, client);
    }
    server.close();
    requireSaid(server, "the file system of the store failed");
  }

  private static void failedWrites(Path data, Path rest, boolean served) throws Exception {
    ErdaServer server = ErdaServer.start(data, OPTIONS);
    putAll(server, data, rest);
    require(sync(data) != 0, "the device took everything");
    if (served) {
      try (ErdaClient client = ErdaClient.connect(server.uri())) {
        requireRefused(server, client);
      }
    }
    server.close();
    requireSaid(server, "the device did not take bytes of a file of the store");
    require(
        !Files.exists(data.resolve(StoreFiles.STOPPED)),
        "a clean stop was recorded, untrue as it is");
    require(StoreVerifier.verify(data).findingsCount() == 1, "verify finds nothing");
    require(StoreVerifier.isUnwritten(data), "a reader of the files is told nothing");
    requireWrittenAgain(data, rest);
  }

  private static void putAll(ErdaServer server, Path data, Path rest) throws Exception {
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      client.put(key(0), value());
      require(sync(data) == 0, "the device takes nothing");
      fill(rest);
      for (int key = 1; key < KEYS; key++) {
        client.put(key(key), value());
      }
    }
  }

  /**
   * Starts and ends a second server, then mounts the file system again and looks for every key. The
   * server finds pages in memory that the device does not have; it may record a clean stop only
   * when it has brought them there.
   */
  private static void requireWrittenAgain(Path data, Path rest) throws Exception {
    Files.delete(rest);
    ErdaServer server = ErdaServer.start(data, OPTIONS);
    System.out.println(server.notes());
    require(server.notes().getFirst().contains("written once more"), "the start tells nothing");
    server.close();
    require(Files.exists(data.resolve(StoreFiles.STOPPED)), "no clean stop was recorded");
    String mounted = data.getParent().toString();
    String image = rest.resolveSibling("image").toString();
    require(call("umount", mounted) == 0, "the file system is in use");
    require(call("mount", "-o", "loop", image, mounted) == 0, "it can't be mounted again");
    VerifyReport report = StoreVerifier.verify(data);
    require(report.findingsCount() == 0, report.findings().toString());
    ErdaServer last = ErdaServer.start(data, OPTIONS);
    try (ErdaClient client = ErdaClient.connect(last.uri())) {
      for (int key = 0; key < KEYS; key++) {
        require(client.get(key(key)) != null, "key " + key + " is lost");
      }
    }
    require(last.notes().isEmpty(), last.notes().toString());
    last.close();
  }

  /** The kernel does this by itself, half a minute after a store. */
  private static int sync(Path data) throws Exception {
    return call("sync", "-f", data.toString());
  }

  private static int call(String... command) throws Exception {
    return new ProcessBuilder(command).inheritIO().start().waitFor();
  }

  private static void requireSaid(ErdaServer server, String what) throws Exception {
    String said = "" + server.await();
    System.out.println("the server: " + said);
    require(said.contains(what), said);
  }

  private static void requireRefused(ErdaServer server, ErdaClient client) throws Exception {
    long untilNs = System.nanoTime() + PATIENCE_NS;
    while (server.figures(Duration.ofSeconds(60)).get("store.readonly") == 0) {
      require(System.nanoTime() - untilNs < 0, "the server does not see that bytes are lost");
      Thread.sleep(20);
    }
    try {
      client.put(key(0), value());
      require(false, "a put into a store whose device fails");
    } catch (ErdaException.ReadOnly e) {
      System.out.println(e.getMessage());
    }
    require(client.get(key(1)) != null, "a key is missing");
  }

  private static void fill(Path rest) throws IOException {
    byte[] bytes = new byte[1 << 12];
    try (OutputStream out = Files.newOutputStream(rest)) {
      while (true) {
        out.write(bytes);
      }
    } catch (IOException e) {
      System.out.println(e.getMessage());
    }
  }

  private static byte[] key(int key) {
    return ("key" + key).getBytes(UTF_8);
  }

  private static byte[] value() {
    return "x".repeat(10_000).getBytes(UTF_8);
  }

  private static void require(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }
}
