package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.CleanerOptions;
import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.KeyCursor;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectLayout;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.protocol.ErdaException;
import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import io.erda.server.engine.CrashingDirectory;
import io.erda.server.engine.StoreHarness;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.service.CoreSurroundings;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Clients of an embedded store commit by themselves what they can, in one thread here, so that each
 * run can be replayed: between cleanings, doublings, ended leases and deaths of the process at any
 * store.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CommittersTest {
  private static final long SEED = Long.getLong("erda.seed", 20261129L);
  private static final int RUNS = Integer.getInteger("erda.runs", 12);
  private static final int VALUE_BYTES = 900;
  private static final int CLIENTS = 3;
  private static final StoreGeometry SMALL =
      new StoreGeometry(new LogGeometry(2, 1 << 16, 4096, 8), 8);
  private static final long IDLE_NS = 1_000_000_000L;

  private static final class Run {
    final Random random;
    final HeapDirectory disk = new HeapDirectory();
    final Map<String, byte[]> values = new HashMap<>();
    final int keys;
    long nowNs = 1;

    /** The puts and deletes of the server that is open. */
    long done;

    long shared;
    long cleanings;
    long resizings;
    EmbeddedNetwork network;
    ServerCore core;
    SharedSteps steps;
    boolean stepping;
    List<ErdaClient> clients;

    Run(long seed) {
      random = new Random(seed);
      keys = 4 + random.nextInt(60);
    }

    void open(MemoryDirectory directory) throws IOException {
      core = null;
      network = new EmbeddedNetwork(this::sleep, StepFailure::inWords);
      EmbeddedDevice device = network.device();
      StoreEngine engine = StoreOpening.open(directory, SMALL, random);
      core =
          new ServerCore(
              engine,
              new ServiceOptions(CLIENTS + 2, IDLE_NS, 4096, 0, new CleanerOptions(2, 0, 0, 0, 0)),
              CoreSurroundings.NONE,
              () -> nowNs += 1000);
      core.listen(device, device.listen("erda"));
      steps = new SharedSteps(core, this::stepOfTheServersThread, System::nanoTime);
      device.forwardWakeups(steps::help);
      device.onRing(steps::help);
      clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        clients.add(
            ErdaClient.over(
                network.device(), "erda", ClientOptions.DEFAULT, () -> nowNs += 1000, steps));
      }
      done = 0;
    }

    /** A client sleeps: the server's thread takes its steps meanwhile. */
    private long sleep() {
      if (!stepping && core != null) {
        stepOfTheServersThread();
      }
      return nowNs += 100_000_000;
    }

    /** Takes the step for which the server's thread would be woken. */
    private void stepOfTheServersThread() {
      stepping = true;
      try {
        steps.doWork();
      } catch (CrashingDirectory.Crash e) {
        network.fail(e);
      } finally {
        stepping = false;
      }
    }

    void go(int count) {
      for (int i = 0; i < count; i++) {
        step();
      }
    }

    private void step() {
      ErdaClient client = clients.get(random.nextInt(CLIENTS));
      String key = "key" + random.nextInt(keys);
      byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
      switch (random.nextInt(24)) {
        case 0 ->
            change(key, null, () -> assertEquals(values.get(key) != null, client.delete(bytes)));
        case 1 -> steps.doWork();
        case 2 -> nowNs += random.nextInt(4) == 0 ? 2 * IDLE_NS : 1000;
        case 3 -> {
          byte[] value = value();
          if (values.get(key) == null) {
            change(key, value, () -> assertTrue(client.putIfAbsent(bytes, value)));
          } else {
            change(
                key, value, () -> assertTrue(client.compareAndSet(bytes, values.get(key), value)));
          }
        }
        case 4 -> {
          if (random.nextInt(20) == 0) {
            core.cleaner().ask(-1);
          }
        }
        default -> {
          byte[] value = value();
          change(key, value, () -> client.put(bytes, value));
        }
      }
      assertArrayEquals(values.get(key), client.get(bytes), key);
    }

    private byte[] value() {
      byte[] value = new byte[random.nextInt(VALUE_BYTES)];
      random.nextBytes(value);
      return value;
    }

    /** The value that a call under way will store, if it has a key. */
    private String unknownKey;

    private byte[] unknownValue;

    private void change(String key, byte[] value, Runnable call) {
      unknownKey = key;
      unknownValue = value;
      call.run();
      done += value != null || values.get(key) != null ? 1 : 0;
      unknownKey = null;
      if (value == null) {
        values.remove(key);
      } else {
        values.put(key, value);
      }
    }

    /** The process has died: takes the outcome of the call that was under way. */
    void settle(ErdaClient client) {
      if (unknownKey != null) {
        byte[] found = client.get(unknownKey.getBytes(StandardCharsets.UTF_8));
        byte[] before = values.get(unknownKey);
        assertTrue(
            Arrays.equals(found, before) || Arrays.equals(found, unknownValue),
            unknownKey + " has neither value");
        if (found == null) {
          values.remove(unknownKey);
        } else {
          values.put(unknownKey, found);
        }
        unknownKey = null;
      }
    }

    void check(String where) {
      ErdaClient client = clients.getFirst();
      Set<String> found = new HashSet<>();
      try (KeyCursor cursor = client.keys()) {
        while (cursor.next()) {
          found.add(new String(cursor.key(), StandardCharsets.UTF_8));
        }
      }
      assertEquals(values.keySet(), found, where);
      values.forEach((key, value) ->
          assertArrayEquals(
              value, client.get(key.getBytes(StandardCharsets.UTF_8)), where + ": " + key));
    }

    long liveBytes() {
      while (core.writer().live().doWork() > 0) {
        // goes on counting
      }
      return core.writer().live().total();
    }

    /** Takes steps until there is nothing to be done, and returns the figures. */
    Map<String, Long> idle() {
      for (int i = 0; i < 20_000 && steps.doWork() + (core.hasMore() ? 1 : 0) > 0; i++) {
        nowNs += 1000;
      }
      return steps.figures();
    }

    void close() {
      clients.forEach(ErdaClient::close);
      steps.end();
      core.close();
    }
  }

  /** Live bytes, counts and marks are right, although the server has not seen the puts. */
  @Test
  void whatClientsCommitIsSeenAndCounted() throws IOException {
    long shared = 0;
    long cleanings = 0;
    long resizings = 0;
    for (int number = 0; number < RUNS; number++) {
      Run run = new Run(SEED + number);
      try {
        run.open(run.disk);
        run.go(3_000);
        run.check("at the end");
        Map<String, Long> figures = run.idle();
        shared += figures.get("puts.shared");
        cleanings += figures.get("cleaner.cleanings");
        resizings += run.core.writer().growth().doublings();
        assertEquals(run.done, figures.get("puts") + figures.get("deletes"));
        long live = run.liveBytes();
        run.close();
        run.open(run.disk.anotherView());
        run.check("opened again");
        run.idle();
        assertEquals(run.liveBytes(), live, "live bytes");
        run.close();
        assertEquals(List.of(), StoreHarness.open(run.disk.anotherView(), SMALL).findings());
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(
            "replay with -Derda.runs=1 -Derda.seed=" + (SEED + number) + ": " + e.getMessage(), e);
      }
    }
    System.out.println(
        "CommittersTest: %,d puts shared the turn, %,d cleanings, %,d doublings, from seed %d"
            .formatted(shared, cleanings, resizings, SEED));
    assertTrue(shared > 1_000L * RUNS, "clients have committed " + shared);
    assertTrue(cleanings > 5L * RUNS && resizings > RUNS, cleanings + ", " + resizings);
  }

  /** A count of live bytes that has not begun will see what was committed. */
  @Test
  void whatIsCommittedBeforeTheCountIsCountedOnce() throws IOException {
    Run run = new Run(SEED);
    run.open(run.disk);
    for (int i = 0; i < 400; i++) {
      run.clients.get(i % CLIENTS).put(new byte[] {(byte) (i % 2)}, new byte[i]);
    }
    Map<String, Long> figures = run.steps.figures();
    assertTrue(figures.get("puts.shared") > 100, figures::toString);
    assertEquals(0, figures.get("cleaner.cleanings"));
    long counted =
        ObjectLayout.padded(ObjectLayout.bytes(1, 398))
            + ObjectLayout.padded(ObjectLayout.bytes(1, 399));
    assertEquals(counted, run.liveBytes());
    run.close();
  }

  @Test
  void whatClientsCommittedSurvivesTheProcess() throws IOException {
    for (int number = 0; number < RUNS; number++) {
      long seed = SEED + 1000 + number;
      try {
        diesAndIsOpenedAgain(new Run(seed));
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("-Derda.seed=" + (seed - 1000) + ": " + e.getMessage(), e);
      }
    }
  }

  private static void diesAndIsOpenedAgain(Run run) throws IOException {
    for (int life = 0; life < 8; life++) {
      try {
        run.open(new CrashingDirectory(run.disk.anotherView(), 200 + run.random.nextInt(12_000)));
        run.go(3_000);
      } catch (CrashingDirectory.Crash | ErdaException e) {
        // The process has died. A client was told so where its thread took the step.
      }
      run.clients.forEach(ErdaClient::close);
      run.open(run.disk.anotherView());
      run.settle(run.clients.getFirst());
      run.check("life " + life);
      run.close();
    }
    assertEquals(List.of(), StoreHarness.open(run.disk.anotherView(), SMALL).findings());
  }
}
