package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.client.ErdaClient;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogStore;
import io.erda.pmem.MappedDirectory;
import io.erda.pmem.Survives;
import io.erda.protocol.Promise;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A promise belongs to the store's whole life: runs with and without {@code --promise power} in
 * turn, on a file system whose power is cut. Needs root, and is skipped elsewhere.
 */
final class PowerCutTest {
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withCapacityBytes(8 << 20)
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 16)
          .withBuckets(1 << 12);

  private static final int KEYS = 40;

  /** More values of so many bytes than fit into what a small store may grow to. */
  private static final int MANY = 200;

  private static final int LARGE = 60_000;

  /** In each of the superblock's copies: see FORMAT.md. */
  private static final int PROMISE_OFFSET = 84;

  @TempDir Path scratch;

  /**
   * Bytes that an earlier run left in the page cache are made durable before anything is promised.
   */
  @Test
  void aRunWithoutThePromiseAndThenOneWithIt() throws IOException {
    try (CutFileSystem files = CutFileSystem.mount(scratch)) {
      run(files, null, "weak");
      ErdaStore store = open(files, Promise.POWER);
      try {
        put(store, "strong");
        files.cut();
      } finally {
        store.close();
      }
      requireKeys(files, "weak", "strong");
    }
  }

  /** Asking once is enough: an opening without the option does not give the promise up. */
  @Test
  void aRunWithThePromiseAndThenOneThatSaysNothing() throws IOException {
    try (CutFileSystem files = CutFileSystem.mount(scratch)) {
      run(files, Promise.POWER, "first");
      ErdaStore store = open(files, null);
      try {
        assertEquals(Promise.POWER, store.promise());
        put(store, "second");
        files.cut();
      } finally {
        store.close();
      }
      requireKeys(files, "first", "second");
    }
  }

  /** A promise that was given up, durably, and is taken again, with a verification in between. */
  @Test
  void powerNoPowerAndPowerAgain() throws IOException {
    try (CutFileSystem files = CutFileSystem.mount(scratch)) {
      run(files, Promise.POWER, "first");
      try (ErdaStore store = open(files, Promise.PROCESS)) {
        assertEquals(Promise.PROCESS, store.promise());
        put(store, "second");
      }
      StoreVerifier.verify(data(files));
      try (ErdaStore store = open(files, null)) {
        assertEquals(Promise.PROCESS, store.promise());
        put(store, "third");
      }
      ErdaStore store = open(files, Promise.POWER);
      try {
        files.cut();
      } finally {
        store.close();
      }
      requireKeys(files, "first", "second", "third");
    }
  }

  /** The superblock that gives up the promise is the last store under the promise. */
  @Test
  void aPromiseThatIsGivenUpStaysGivenUp() throws IOException {
    try (CutFileSystem files = CutFileSystem.mount(scratch)) {
      run(files, Promise.POWER, "first");
      assertEquals(Promise.POWER, recorded(files));
      try (ErdaStore store = open(files, Promise.PROCESS)) {
        assertEquals(1, store.notes().size(), store.notes()::toString);
        files.cut();
      }
      assertEquals(Promise.PROCESS, recorded(files));
    }
  }

  private static Promise recorded(CutFileSystem files) throws IOException {
    byte[] superblock = Files.readAllBytes(data(files).resolve("superblock"));
    assertEquals(superblock[PROMISE_OFFSET], superblock[4096 + PROMISE_OFFSET]);
    return superblock[PROMISE_OFFSET] == 1 ? Promise.POWER : Promise.PROCESS;
  }

  /** Its directories are new too, and their parents have to name them. */
  @Test
  void aStoreThatWasJustCreated() throws IOException {
    try (CutFileSystem files = CutFileSystem.mount(scratch)) {
      ErdaStore store = open(files, Promise.POWER);
      try {
        put(store, "first");
        files.cut();
      } finally {
        store.close();
      }
      requireKeys(files, "first");
    }
  }

  /** The power fails between the two steps of raising the capacity, and behind it. */
  @Test
  void aCapacityThatIsRaised() throws Exception {
    try (CutFileSystem files = CutFileSystem.mount(scratch)) {
      run(files, Promise.POWER, "first");
      try (MappedDirectory directory = MappedDirectory.open(data(files))) {
        directory.promise(Survives.POWER_FAILURE);
        directory.delete("stopped");
        directory.syncNames();
        LogStore.makeSlots(directory, new LogGeometry(1, 1 << 20, 1 << 16, 8).withRegionsMax(200));
        files.cut();
      }
      requireKeys(files, "first");
      ErdaStore store = ErdaStore.open(data(files), SMALL.withCapacityBytes(24 << 20));
      try (ErdaClient erda = store.client()) {
        for (int i = 0; i < MANY; i++) {
          erda.put(("many" + i).getBytes(UTF_8), new byte[LARGE]);
        }
        files.cut();
      } finally {
        store.close();
      }
      assertEquals(List.of(), StoreVerifier.verify(data(files)).findings());
      try (ErdaStore after = ErdaStore.open(data(files));
          ErdaClient erda = after.client()) {
        assertEquals(24L << 20, after.figures(Duration.ofSeconds(9)).get("log.bytes.capacity"));
        assertArrayEquals(value("first", 7), erda.get("first7".getBytes(UTF_8)));
        for (int i = 0; i < MANY; i++) {
          assertEquals(LARGE, erda.get(("many" + i).getBytes(UTF_8)).length, "many" + i);
        }
        put(after, "third");
      }
    }
  }

  private static void run(CutFileSystem files, Promise promise, String keys) {
    try (ErdaStore store = open(files, promise)) {
      put(store, keys);
    }
  }

  private static ErdaStore open(CutFileSystem files, Promise promise) {
    return ErdaStore.open(data(files), SMALL.withPromise(promise));
  }

  private static Path data(CutFileSystem files) {
    return files.root().resolve("a/b/store");
  }

  private static void put(ErdaStore store, String keys) {
    try (ErdaClient erda = store.client()) {
      for (int i = 0; i < KEYS; i++) {
        erda.put((keys + i).getBytes(UTF_8), value(keys, i));
      }
    }
  }

  private static byte[] value(String keys, int i) {
    return (keys + " " + i + " ").repeat(100).getBytes(UTF_8);
  }

  private static void requireKeys(CutFileSystem files, String... acknowledged) {
    assertEquals(List.of(), StoreVerifier.verify(data(files)).findings());
    try (ErdaStore store = open(files, null);
        ErdaClient erda = store.client()) {
      for (String keys : acknowledged) {
        for (int i = 0; i < KEYS; i++) {
          assertArrayEquals(value(keys, i), erda.get((keys + i).getBytes(UTF_8)), keys + i);
        }
      }
    }
  }
}
