package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.client.KeyCursor;
import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ProcessException;
import io.erda.protocol.ErdaException;
import io.erda.server.ErdaStore;
import io.erda.server.ServerOptions;
import io.erda.server.StoreVerifier;
import io.erda.server.VerifyReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The directory of a store that is in use is renamed, replaced or removed, with real processes and
 * files. The store takes no more puts and reports the reason; acknowledged values are in the
 * directory, wherever it is; and other files are not changed.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("long")
class MovedStoreTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int KEYS = 60;
  private static final int VALUE_BYTES = 20_000;

  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 18)
          .withCapacityBytes(64 << 20)
          .withBuckets(1 << 10)
          .withLivePercent(0);

  @TempDir Path directory;

  private final Map<String, byte[]> acknowledged = new HashMap<>();
  private Children children;
  private Path name;
  private Path moved;
  private Child server;
  private Map<String, String> uris;

  /** The changes of the name of a store. */
  enum Move {
    RENAMED(" any more; the directory of the store is "),
    REPLACED_BY_AN_EMPTY_DIRECTORY("another directory is named "),
    REPLACED_BY_ANOTHER_STORE("another directory is named "),
    LINK_POINTED_ELSEWHERE("another directory is named ");

    final String told;

    Move(String told) {
      this.told = told;
    }
  }

  @BeforeEach
  void begin() {
    children = new Children();
    name = directory.resolve("store");
    moved = directory.resolve("moved");
  }

  @AfterEach
  void end() {
    children.close();
  }

  private static Jvm jvm() {
    return Jvm.current();
  }

  private void prepare(Move move) throws IOException {
    if (move == Move.LINK_POINTED_ELSEWHERE) {
      Files.createDirectory(moved);
      Files.createSymbolicLink(name, moved);
    }
  }

  /** Returns the directory that has the name now, or null. */
  private Path move(Move move) throws IOException {
    Path other = directory.resolve("other");
    if (move == Move.REPLACED_BY_ANOTHER_STORE || move == Move.LINK_POINTED_ELSEWHERE) {
      try (ErdaStore store = ErdaStore.open(other, SMALL);
          ErdaClient client = store.client()) {
        for (int i = 0; i < KEYS; i++) {
          client.put(("other " + i).getBytes(UTF_8), new byte[VALUE_BYTES]);
        }
      }
    } else if (move == Move.REPLACED_BY_AN_EMPTY_DIRECTORY) {
      Files.createDirectory(other);
    }
    if (move == Move.LINK_POINTED_ELSEWHERE) {
      Path link = Files.createSymbolicLink(directory.resolve("link"), other);
      Files.move(link, name, StandardCopyOption.ATOMIC_MOVE);
      return other;
    }
    Files.move(name, moved);
    if (move == Move.RENAMED) {
      return null;
    }
    Files.move(other, name);
    return name;
  }

  /** A server may make or remove a file during the call. */
  private static void remove(Path store) throws IOException {
    while (Files.exists(store)) {
      try (Stream<Path> all = Files.walk(store)) {
        for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(each);
        }
      } catch (UncheckedIOException | DirectoryNotEmptyException e) {
        // Once more.
      }
    }
  }

  /** The names of all that is in a directory, and how long each file is. */
  private static Map<String, Long> contents(Path store) throws IOException {
    Map<String, Long> contents = new TreeMap<>();
    if (store != null) {
      try (Stream<Path> all = Files.walk(store)) {
        for (Path each : all.toList()) {
          contents.put(
              store.relativize(each).toString(), Files.isDirectory(each) ? -1 : Files.size(each));
        }
      }
    }
    return contents;
  }

  private void serve() {
    List<String> command =
        jvm()
            .erda(
                "server",
                "--data",
                name.toString(),
                "--listen",
                "127.0.0.1:0",
                "--capacity",
                "64M",
                "--region-bytes",
                "1M",
                "--segment-bytes",
                "256K",
                "--live-percent",
                "0");
    server = children.start("the server", command);
    String serving = server.await("serving ", LONG);
    String tcp = serving.substring(serving.indexOf("erda://"), serving.indexOf(" (promise"));
    uris = Map.of("shm", "erda+shm:" + name, "tcp", tcp);
  }

  private static byte[] value(int number) {
    byte[] value = new byte[VALUE_BYTES];
    value[number % VALUE_BYTES] = (byte) (number | 1);
    return value;
  }

  private void put(ErdaClient client, int number) {
    byte[] key = ("key " + number % KEYS).getBytes(UTF_8);
    client.put(key, value(number));
    acknowledged.put(new String(key, UTF_8), value(number));
  }

  private void fill(ErdaClient client) {
    for (int i = 0; i < 2 * KEYS; i++) {
      put(client, i);
    }
  }

  /** Puts small values, for which no file is needed, until that is refused. */
  private ErdaException putUntilTold(ErdaClient client) {
    for (int i = 0; ; i++) {
      try {
        byte[] key = ("small " + i % KEYS).getBytes(UTF_8);
        client.put(key, new byte[] {(byte) i});
        acknowledged.put(new String(key, UTF_8), new byte[] {(byte) i});
      } catch (ErdaException e) {
        return e;
      }
      LockSupport.parkNanos(1_000_000);
    }
  }

  private void requireAcknowledged(ErdaClient client) {
    acknowledged.forEach(
        (key, value) -> assertArrayEquals(value, client.get(key.getBytes(UTF_8)), key));
  }

  private void requireWhole(Path store) {
    VerifyReport report = StoreVerifier.verify(store);
    assertEquals(List.of(), report.findings());
    try (ErdaStore opened = ErdaStore.open(store);
        ErdaClient client = opened.client()) {
      requireAcknowledged(client);
    }
  }

  private static void requireReadOnly(ErdaException told, String... words) {
    assertEquals("ReadOnly", told.getClass().getSimpleName(), told.getMessage());
    for (String each : words) {
      assertTrue(told.getMessage().contains(each), told.getMessage());
    }
  }

  /** Ends the server with SIGTERM, and requires that it prints the same text that clients get. */
  private void requireTold(String... words) throws Exception {
    // The output of a process is not read any more when its object ends it, so it is ended by its
    // ID.
    String pid = Long.toString(server.pid());
    assertEquals(0, new ProcessBuilder("kill", "-TERM", pid).start().waitFor());
    String told =
        assertThrows(ProcessException.class, () -> server.await("nothing more", LONG)).getMessage();
    assertTrue(told.contains("exit code 1"), told);
    for (String each : words) {
      assertTrue(told.contains(each), told);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aServerWhoseStoreIsNotFoundByItsNameTakesNoMorePuts(Move move) throws Exception {
    prepare(move);
    serve();
    try (ErdaClient shm = ErdaClient.connect(uris.get("shm"));
        ErdaClient tcp = ErdaClient.connect(uris.get("tcp"))) {
      fill(shm);
      Path other = move(move);
      Map<String, Long> before = contents(other);
      requireReadOnly(putUntilTold(shm), move.told, name.toString(), moved.toString());
      requireReadOnly(putUntilTold(tcp), move.told, name.toString(), moved.toString());
      requireReadOnly(assertThrows(ErdaException.class, () -> tcp.clean(-1)), move.told);
      assertEquals(1L, tcp.stats().get("store.readonly"));
      requireAcknowledged(shm);
      requireAcknowledged(tcp);
      requireTold("the store is read-only now", move.told, name.toString(), moved.toString());
      assertEquals(before, contents(other), "somebody else's files");
      if (!before.isEmpty() && before.containsKey("superblock")) {
        assertEquals(List.of(), StoreVerifier.verify(other).findings());
      }
    }
    requireWhole(moved);
  }

  /** Files are needed during the test: regions are made, linked, retired and renamed. */
  @Test
  void filesAreFoundWhereTheDirectoryIs() throws Exception {
    serve();
    Path other = directory.resolve("other");
    try (ErdaStore store = ErdaStore.open(other, SMALL);
        ErdaClient client = store.client()) {
      for (int i = 0; i < 3 * KEYS; i++) {
        client.put(("other " + i).getBytes(UTF_8), new byte[VALUE_BYTES]);
      }
    }
    Map<String, Long> before = contents(other);
    try (ErdaClient client = ErdaClient.connect(uris.get("tcp"))) {
      fill(client);
      Files.move(name, moved);
      Files.move(other, name);
      ErdaException told = null;
      for (int i = 0; told == null; i++) {
        try {
          if (i % 10 == 0) {
            client.clean(-1);
          }
          put(client, i);
        } catch (ErdaException e) {
          told = e;
        }
      }
      requireReadOnly(told, moved.toString());
    }
    requireTold(moved.toString());
    assertEquals(before, contents(name), "somebody else's files");
    assertEquals(List.of(), StoreVerifier.verify(name).findings());
    requireWhole(moved);
  }

  @ParameterizedTest
  @CsvSource({"shm", "tcp"})
  void aServerWhoseStoreWasRemovedTakesNoMorePuts(String device) throws Exception {
    serve();
    try (ErdaClient client = ErdaClient.connect(uris.get(device))) {
      fill(client);
      remove(name);
      requireReadOnly(putUntilTold(client), "removed", name.toString());
      requireReadOnly(assertThrows(ErdaException.class, () -> client.clean(-1)), "removed");
      requireTold("the store is read-only now", "removed", name.toString());
    }
  }

  @Test
  void aServerWhoseFilesWereRemovedTakesNoMorePuts() throws Exception {
    serve();
    try (ErdaClient client = ErdaClient.connect(uris.get("tcp"))) {
      fill(client);
      try (Stream<Path> all = Files.list(name)) {
        for (Path each : all.filter(Files::isRegularFile).toList()) {
          Files.delete(each);
        }
      }
      requireReadOnly(putUntilTold(client), " is gone", name.toString());
      requireAcknowledged(client);
      requireTold("the store is read-only now", " is gone");
    }
  }

  /** The next opening would not find what is stored from then on. */
  @ParameterizedTest
  @CsvSource({
    "superblock, false",
    "root, false",
    "regions, false",
    "table-1, false",
    "region-0-1, false",
    "superblock, true",
    "root, true",
    "regions, true",
    "table-1, true",
    "region-0-1, true"
  })
  void aServerOneOfWhoseFilesIsRemovedOrReplacedTakesNoMorePuts(String file, boolean replaced)
      throws Exception {
    serve();
    try (ErdaClient client = ErdaClient.connect(uris.get("tcp"))) {
      client.put(new byte[] {1}, new byte[] {1});
      Path lost = name.resolve(file);
      Path copy = Files.copy(lost, directory.resolve("copy"));
      client.put(new byte[] {1}, new byte[] {2});
      if (replaced) {
        Files.move(copy, lost, StandardCopyOption.REPLACE_EXISTING);
      } else {
        Files.delete(lost);
      }
      String told = file + (replaced ? " is not the file that was opened" : " is gone");
      requireReadOnly(putUntilTold(client), told);
      requireAcknowledged(client);
      requireNothingOlder(new byte[] {1}, new byte[] {2});
      requireTold("the store is read-only now", told);
    }
  }

  /**
   * Found by a stranger: a file that the store stores to now and then only, and that somebody had
   * shortened, was noticed when it was used next; until then puts were acknowledged that no opening
   * would find.
   */
  @ParameterizedTest
  @ValueSource(strings = {"superblock", "regions"})
  void aServerOneOfWhoseFilesIsShortenedTakesNoMorePuts(String file) throws Exception {
    serve();
    try (ErdaClient client = ErdaClient.connect(uris.get("tcp"))) {
      client.put(new byte[] {1}, new byte[] {1});
      Files.write(name.resolve(file), new byte[0]);
      String told = file + " was shortened while it was in use: it has 0 of ";
      requireReadOnly(putUntilTold(client), told);
      requireAcknowledged(client);
      requireTold("the store is read-only now", told);
    }
  }

  /** Found by a stranger: only the next start told of it, and refused the store. */
  @Test
  void aServerOneOfWhoseFilesIsLengthenedTakesNoMorePuts() throws Exception {
    serve();
    try (ErdaClient client = ErdaClient.connect(uris.get("tcp"))) {
      client.put(new byte[] {1}, new byte[] {1});
      Path region = name.resolve("region-0-1");
      long length = Files.size(region);
      try (FileChannel file = FileChannel.open(region, StandardOpenOption.WRITE)) {
        file.write(ByteBuffer.allocate(1), length);
      }
      String told = "region-0-1 was lengthened while it was in use: it has ";
      requireReadOnly(putUntilTold(client), told);
      requireAcknowledged(client);
      requireTold("the store is read-only now", told);
    }
  }

  /** Found by a stranger: who connected heard only that there was no answer. */
  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void whoConnectsToAServerWhoseRootIsShortenedIsToldSo(String device) throws Exception {
    serve();
    try (ErdaClient client = ErdaClient.connect(uris.get(device))) {
      client.put(new byte[] {1}, new byte[] {1});
      Files.write(name.resolve("root"), new byte[0]);
      ErdaException told = putUntilTold(client);
      assertTrue(told.getMessage().contains("root was shortened"), told.getMessage());
    }
    ErdaException.Refused refused =
        assertThrows(
            ErdaException.Refused.class, () -> ErdaClient.connect(uris.get(device)).close());
    assertTrue(refused.getMessage().contains("root was shortened"), refused.getMessage());
  }

  /**
   * A client that reads the files by their names finds the value or is refused. It used to get the
   * older value of the file that had replaced the one in use.
   */
  private void requireNothingOlder(byte[] key, byte[] value) {
    try (ErdaClient reader = ErdaClient.connect("erda+shm:" + name + "?read-only")) {
      assertArrayEquals(value, reader.get(key));
    } catch (ErdaException e) {
      assertNotEquals("Damaged", e.getClass().getSimpleName(), e.getMessage());
    }
  }

  /**
   * The record of a clean stop applies to the files that have the names: it proved a table that had
   * replaced the one in use, so that {@code verify} accepted values that were older than the
   * acknowledged ones.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void noRecordVouchesForAFileThatWasPutInThePlaceOfAnother(boolean atOnce) throws Exception {
    try (ErdaStore store = ErdaStore.open(name, SMALL);
        ErdaClient client = store.client()) {
      fill(client);
      Path table = name.resolve("table-1");
      Path copy = Files.copy(table, directory.resolve("copy"));
      Files.move(copy, table, StandardCopyOption.REPLACE_EXISTING);
      if (!atOnce) {
        putUntilTold(client);
      }
    }
    assertFalse(Files.exists(name.resolve("stopped")));
    ErdaStore.open(name, SMALL).close();
    assertTrue(Files.exists(name.resolve("stopped")));
  }

  @Test
  void anEmbeddedStoreOneOfWhoseFilesIsRemovedTakesNoMorePuts() throws Exception {
    try (ErdaStore store = ErdaStore.open(name, SMALL);
        ErdaClient client = store.client()) {
      fill(client);
      Files.delete(name.resolve("regions"));
      requireReadOnly(putUntilTold(client), "regions is gone");
      requireAcknowledged(client);
    }
  }

  @ParameterizedTest
  @EnumSource
  void anEmbeddedStoreThatIsNotFoundByItsNameTakesNoMorePuts(Move move) throws Exception {
    prepare(move);
    Path other;
    Map<String, Long> before;
    try (ErdaStore store = ErdaStore.open(name, SMALL);
        ErdaClient client = store.client()) {
      fill(client);
      other = move(move);
      before = contents(other);
      requireReadOnly(putUntilTold(client), move.told, name.toString(), moved.toString());
      assertEquals(1L, store.figures(LONG).get("store.readonly"));
      requireAcknowledged(client);
    }
    assertEquals(before, contents(other), "somebody else's files");
    requireWhole(moved);
  }

  @Test
  void anEmbeddedStoreThatWasRemovedTakesNoMorePuts() throws Exception {
    try (ErdaStore store = ErdaStore.open(name, SMALL);
        ErdaClient client = store.client()) {
      fill(client);
      remove(name);
      requireReadOnly(putUntilTold(client), "removed", name.toString());
      requireAcknowledged(client);
    }
  }

  /** A client that only reads sees one store, and never files of two. */
  @ParameterizedTest
  @EnumSource
  void aReaderOfTheFilesIsNotLedElsewhere(Move move) throws Exception {
    prepare(move);
    try (ErdaStore store = ErdaStore.open(name, SMALL);
        ErdaClient client = store.client()) {
      fill(client);
    }
    try (ErdaClient reader = ErdaClient.connect("erda+shm:" + name + "?read-only")) {
      reader.get("key 0".getBytes(UTF_8));
      move(move);
      ErdaException told = null;
      while (told == null) {
        try {
          requireAcknowledged(reader);
          LockSupport.parkNanos(1_000_000);
        } catch (ErdaException e) {
          told = e;
        }
      }
      assertNotEquals("Damaged", told.getClass().getSimpleName(), told.getMessage());
    }
  }

  @ParameterizedTest
  @EnumSource
  void verifyTellsThatTheNameIsAnothersByNow(Move move) throws Exception {
    prepare(move);
    try (ErdaStore store = ErdaStore.open(name, SMALL);
        ErdaClient client = store.client()) {
      fill(client);
    }
    boolean[] done = new boolean[1];
    ErdaException told =
        assertThrows(
            ErdaException.Unusable.class,
            () ->
                StoreVerifier.verify(
                    name,
                    (what, at, all) -> {
                      if (!done[0]) {
                        done[0] = true;
                        try {
                          move(move);
                        } catch (IOException e) {
                          throw new UncheckedIOException(e);
                        }
                      }
                    }));
    assertTrue(told.getMessage().contains(moved.toString()), told.getMessage());
    assertTrue(done[0]);
    requireWhole(moved);
  }

  /** A backup that has begun is one of the store that it began with. */
  @ParameterizedTest
  @EnumSource
  void aBackupGoesOnWhereverTheDirectoryIs(Move move) throws Exception {
    prepare(move);
    serve();
    try (ErdaClient client = ErdaClient.connect(uris.get("shm"))) {
      fill(client);
    }
    List<String> keys = new ArrayList<>();
    try (ErdaClient client = ErdaClient.connect(uris.get("shm"));
        KeyCursor cursor = client.keys()) {
      boolean gone = false;
      while (cursor.next()) {
        keys.add(new String(cursor.key(), UTF_8));
        if (!gone) {
          gone = true;
          move(move);
        }
        assertArrayEquals(acknowledged.get(keys.getLast()), client.get(cursor.key()));
      }
    }
    assertEquals(KEYS, keys.size());
    requireTold(moved.toString());
  }
}
