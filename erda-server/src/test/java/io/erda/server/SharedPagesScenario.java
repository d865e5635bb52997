package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ErdaClient;
import io.erda.pmem.FailedStoreException;
import io.erda.pmem.MappedDirectory;
import io.erda.pmem.NoRoomToStoreException;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * The part of {@link SharedPagesTest} that runs in a separate process, on a separate file system
 * that copies shared blocks of two files before a store to one of them. It ends at the first
 * unexpected result.
 */
final class SharedPagesScenario {
  private static final ServerOptions OPTIONS =
      ServerOptions.DEFAULTS
          .withHeads(1)
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 16)
          .withCapacityBytes(16 << 20)
          .withBuckets(8192);

  private static final int KEYS = 60;
  private static final long PATIENCE_NS = 60_000_000_000L;

  private final Path directory;
  private final Path data;
  private final Path ballast;

  /** The numbers of the puts that each key may have its value from. */
  private final Map<Integer, Set<Integer>> possible = new TreeMap<>();

  private int puts;

  private SharedPagesScenario(Path directory) {
    this.directory = directory;
    this.data = directory.resolve("data");
    this.ballast = directory.resolve("ballast");
  }

  public static void main(String[] arguments) throws Exception {
    SharedPagesScenario scenario = new SharedPagesScenario(Path.of(arguments[1]));
    switch (arguments[0]) {
      case "page" -> scenario.page();
      case "served" -> scenario.served();
      case "embedded" -> scenario.embedded();
      case "shut-down" -> scenario.shutDown(true);
      case "shut-down-idle" -> scenario.shutDown(false);
      default -> throw new IllegalArgumentException(arguments[0]);
    }
    System.out.println("done");
  }

  /** The stores themselves. */
  private void page() throws Exception {
    Files.createDirectory(data);
    try (MappedDirectory opened = MappedDirectory.open(data);
        PersistentMemory memory = opened.create("words", 1 << 16)) {
      MemorySegment bytes = MemorySegment.ofArray(new byte[9000]);
      memory.put(20_000, bytes, 0, 9000);
      memory.putLongRelease(8, 1);
      share();
      fillUp();
      FailedStoreException word =
          requireNoRoom(() -> memory.putLongRelease(8, 2), "a word was stored");
      require(memory.segment().get(ValueLayout.JAVA_LONG, 8) == 1, "the word is not what it was");
      requireNoRoom(() -> memory.put(20_000, bytes, 0, 9000), "bytes were stored");
      require(!((NoRoomToStoreException) word).isOver(), "there is room already");
      Files.delete(ballast);
      require(((NoRoomToStoreException) word).isOver(), "there is no room yet");
      memory.putLongRelease(8, 2);
      memory.put(20_000, bytes, 0, 9000);
      require(memory.segment().get(ValueLayout.JAVA_LONG, 8) == 2, "the word was not stored");
    }
  }

  private FailedStoreException requireNoRoom(Runnable store, String otherwise) {
    try {
      store.run();
    } catch (NoRoomToStoreException e) {
      require(e.getMessage().contains(data.resolve("words").toString()), e.getMessage());
      require(e.getMessage().contains("No space left on device"), e.getMessage());
      return e;
    }
    throw new AssertionError(otherwise);
  }

  private void served() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, OPTIONS)) {
      fullAndFreed(() -> ErdaClient.connect(server.uri()));
      require(server.figures(Duration.ofSeconds(10)).get("store.readonly") == 0, "read-only");
    }
    reopened();
  }

  private void embedded() throws Exception {
    try (ErdaStore store = ErdaStore.open(data, OPTIONS)) {
      fullAndFreed(store::client);
    }
    reopened();
  }

  private void reopened() {
    try (ErdaStore store = ErdaStore.open(data, OPTIONS);
        ErdaClient client = store.client()) {
      requireAll(client);
    }
  }

  private void fullAndFreed(Supplier<ErdaClient> clients) throws Exception {
    try (ErdaClient first = clients.get()) {
      for (int key = 0; key < KEYS; key++) {
        require(put(first, key), "put of a new store");
      }
      for (int round = 0; round < 2; round++) {
        share();
        fillUp();
        boolean full = false;
        for (int i = 0; i < 1000 && !full; i++) {
          full = !put(first, i % KEYS);
        }
        require(full, "never full");
        requireAll(first);
        try (ErdaClient second = clients.get()) {
          requireAll(second);
          for (int key = 0; key < KEYS; key++) {
            put(second, key);
            delete(second, key);
          }
          requireAll(second);
        }
        free();
        long untilNs = System.nanoTime() + PATIENCE_NS;
        while (!put(first, 0)) {
          require(System.nanoTime() - untilNs < 0, "puts do not go on");
          Thread.sleep(100);
        }
        for (int key = 0; key < KEYS; key++) {
          require(put(first, key), "put of a store that has room again");
        }
        requireAll(first);
      }
    }
  }

  /**
   * A file system that was shut down under a store: it does not become whole by itself.
   *
   * @param writes whether somebody puts before the server is seen to be read-only
   */
  private void shutDown(boolean writes) throws Exception {
    ErdaServer server = ErdaServer.start(data, OPTIONS);
    ErdaClient client = ErdaClient.connect(server.uri());
    for (int key = 0; key < KEYS; key++) {
      require(put(client, key), "put of a new store");
    }
    run("sync", "-f", data.toString());
    run("xfs_io", "-x", "-c", "shutdown", directory.toString());
    if (writes) {
      requireRefused(client);
    }
    try {
      ErdaClient.connect(server.uri()).close();
    } catch (ErdaException e) {
      System.out.println("a new client: " + e.getMessage());
    }
    // No client requests a store: the server finds out by its own checks.
    long untilNs = System.nanoTime() + PATIENCE_NS;
    while (server.figures(Duration.ofSeconds(60)).get("store.readonly") == 0) {
      require(System.nanoTime() - untilNs < 0, "the server does not see that it is read-only");
      Thread.sleep(20);
    }
    requireRefused(client);
    client.close();
    server.close();
    Throwable failure = server.await();
    System.out.println("the server: " + failure);
    require(
        failure instanceof ErdaException.ReadOnly
            && failure.getMessage().contains("Input/output error"),
        "" + failure);
  }

  private void requireRefused(ErdaClient client) {
    boolean refused = false;
    for (int i = 0; i < 1000 && !refused; i++) {
      refused = !put(client, i % KEYS);
    }
    require(refused, "puts into a file system that was shut down");
  }

  /**
   * Puts a value. Returns whether that succeeded. Any exception other than an {@link ErdaException}
   * ends the scenario.
   */
  private boolean put(ErdaClient client, int key) {
    int number = ++puts;
    try {
      client.put(key(key), value(number));
      possible.put(key, new TreeSet<>(Set.of(number)));
      return true;
    } catch (ErdaException.OutcomeUnknown e) {
      possible.get(key).add(number);
      return false;
    } catch (ErdaException.Full | ErdaException.ReadOnly | ErdaException.Unavailable e) {
      System.out.println(e.getMessage());
      return false;
    }
  }

  private void delete(ErdaClient client, int key) {
    try {
      client.delete(key(key));
      possible.put(key, new TreeSet<>(Set.of(0)));
    } catch (ErdaException.OutcomeUnknown e) {
      possible.get(key).add(0);
    } catch (ErdaException.Full | ErdaException.Unavailable e) {
      System.out.println(e.getMessage());
    }
  }

  private void requireAll(ErdaClient client) {
    for (Map.Entry<Integer, Set<Integer>> each : possible.entrySet()) {
      byte[] got = client.get(key(each.getKey()));
      int number = got == null ? 0 : Integer.parseInt(new String(got, UTF_8).strip());
      require(
          each.getValue().contains(number),
          "key %d is of put %d, must be of %s".formatted(each.getKey(), number, each.getValue()));
    }
  }

  /** From now on every page of the store's files belongs to a copy too. */
  private void share() throws Exception {
    run("cp", "-a", "--reflink=always", data.toString(), directory.resolve("copy").toString());
  }

  private void free() throws Exception {
    Files.delete(ballast);
    run("rm", "-rf", directory.resolve("copy").toString());
  }

  private void run(String... command) throws Exception {
    int code = new ProcessBuilder(command).inheritIO().start().waitFor();
    require(code == 0, String.join(" ", command) + " ended with " + code);
  }

  private void fillUp() throws IOException {
    for (int bytes = 1 << 20; bytes >= 4096; bytes >>= 4) {
      try (OutputStream out =
          Files.newOutputStream(ballast, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
        while (true) {
          out.write(new byte[bytes]);
        }
      } catch (FileSystemException e) {
        throw e;
      } catch (IOException e) {
        // It is full.
      }
    }
  }

  private static byte[] key(int key) {
    return ("key" + key).getBytes(UTF_8);
  }

  private static byte[] value(int number) {
    return ("%-3000d".formatted(number)).getBytes(UTF_8);
  }

  private static void require(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }
}
