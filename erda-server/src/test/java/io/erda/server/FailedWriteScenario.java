package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ErdaClient;
import io.erda.pmem.MappedDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.ErdaException;
import io.erda.server.engine.files.StoreFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

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
    switch (arguments[0]) {
      case "before" -> before(data, rest);
      case "read-only" -> readOnly(data);
      default -> failedWrites(data, rest, arguments[0].equals("served"));
    }
    System.out.println("done");
  }

  private static void before(Path data, Path rest) throws Exception {
    List<String> names = List.of("a", "b");
    Files.createDirectory(data);
    try (MappedDirectory directory = MappedDirectory.open(data)) {
      List<PersistentMemory> memories = new ArrayList<>();
      for (String name : names) {
        memories.add(directory.create(name, 1 << 20));
      }
      fill(rest);
      for (PersistentMemory memory : memories) {
        memory.put(0, MemorySegment.ofArray(new byte[1 << 20]), 0, 1 << 20);
      }
      require(sync(data) != 0, "the device took everything");
    }
    MappedDirectory opened = MappedDirectory.open(data);
    try (NamedFiles files = new NamedFiles(opened, opened.opened())) {
      for (String name : names) {
        files.open(name);
      }
      require(files.earlier().size() == names.size(), files.earlier().toString());
      require(files.unwritten() == null, "an error from before is taken for one of now");
    }
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
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      client.put(key(0), value());
      fill(rest);
      for (int key = 1; key < KEYS; key++) {
        client.put(key(key), value());
      }
      require(sync(data) != 0, "the device took everything");
      if (served) {
        requireRefused(server, client);
      }
    }
    server.close();
    requireSaid(server, "the device did not take bytes of a file of the store");
    require(
        !Files.exists(data.resolve(StoreFiles.STOPPED)),
        "a clean stop was recorded, untrue as it is");
  }

  /** The kernel does this by itself, half a minute after a store. */
  private static int sync(Path data) throws Exception {
    return new ProcessBuilder("sync", "-f", data.toString()).start().waitFor();
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
