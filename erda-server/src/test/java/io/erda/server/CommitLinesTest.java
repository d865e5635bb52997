package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.CleanerOptions;
import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.Region;
import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.Commits;
import io.erda.protocol.ErdaException;
import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import io.erda.server.engine.StoreHarness;
import io.erda.server.engine.files.CommitsFile;
import io.erda.server.engine.files.CommitsFile.Standing;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.service.CoreSurroundings;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import io.erda.server.engine.tables.Tables;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Clients commit by themselves as clients of other processes do, between the steps of a server that
 * takes turns: in one thread here, so that each run can be replayed. A client is stopped at any
 * point of a commit, while the server ends leases, cleans, doubles its table, serves others, or
 * dies and the store is opened again.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CommitLinesTest {
  private static final long SEED = Long.getLong("erda.seed", 20261130L);
  private static final int RUNS = Integer.getInteger("erda.runs", 4);
  private static final int VALUE_BYTES = 900;
  private static final int CLIENTS = 4;
  private static final StoreGeometry SMALL =
      new StoreGeometry(new LogGeometry(2, 1 << 16, 4096, 8), 8);
  private static final long IDLE_NS = 1_000_000_000L;

  /** A client of another process has mappings of its own, which the server does not close. */
  private static final class Mapped extends ForwardingDirectory {
    Mapped(MemoryDirectory directory) {
      super(directory);
    }

    @Override
    protected PersistentMemory wrap(String name, PersistentMemory memory) {
      return new ForwardingMemory(memory) {
        @Override
        public void close() {
          // The memory lives as long as its directory.
        }
      };
    }
  }

  private static final class Run {
    final Random random;
    final HeapDirectory disk = new HeapDirectory();
    final Map<String, byte[]> values = new HashMap<>();
    final int keys;

    /** One commit of so many is stopped; 0: none. */
    final int stopsOneOf;

    /** Whether the server dies now and then while a client is stopped. */
    final boolean dies;

    long nowNs = 1;

    /** Ends the sleeps of clients. */
    long networkNs = 1;

    /**
     * The clock of clients, which do not give up while the server's clock makes leases end; and how
     * fast it goes: those of a server that has died give up soon.
     */
    long clientNs = 1;

    long[] paceNs;
    long done;
    long[] stops = new long[5];
    long defeated;
    long deaths;
    EmbeddedNetwork network;
    ServerCore core;
    Steps steps;
    boolean stepping;
    List<ErdaClient> clients = new ArrayList<>();

    // The call under way that may be stopped.

    ErdaClient caller;
    String key;
    byte[] value;
    boolean isStopped;
    boolean wasSwapped;
    boolean hasDied;

    /** Whether the server has taken a step since the commit noted the turn. */
    boolean mustNotSwap;

    long turns;
    String late;

    Run(long seed, int stopsOneOf, boolean dies) {
      this.random = new Random(seed);
      this.keys = 4 + random.nextInt(60);
      this.stopsOneOf = stopsOneOf;
      this.dies = dies;
    }

    void open(MemoryDirectory ofServer) throws IOException {
      MemoryDirectory directory = new Mapped(ofServer);
      core = null;
      network = new EmbeddedNetwork(this::sleep, StepFailure::inWords);
      EmbeddedDevice device = network.device();
      StoreEngine engine = StoreOpening.open(directory, SMALL, random);
      core =
          new ServerCore(
              engine,
              new ServiceOptions(CLIENTS + 2, IDLE_NS, 4096, 0, new CleanerOptions(2, 0, 0, 0, 0)),
              CoreSurroundings.NONE,
              () -> nowNs += isStopped ? 500_000 : 1000);
      core.letClientsCommit();
      core.listen(device, device.listen("erda"));
      steps = new TurnSteps(core, new StepTurn(System::nanoTime));
      clients = new ArrayList<>();
      long[] pace = {1000};
      paceNs = pace;
      for (int i = 0; i < CLIENTS; i++) {
        clients.add(
            ErdaClient.over(
                network.device(), "erda", ClientOptions.DEFAULT, () -> clientNs += pace[0]));
      }
    }

    /** A client sleeps: the server's thread takes its steps meanwhile. */
    private long sleep() {
      if (!stepping && core != null) {
        step(1);
      }
      nowNs += 1_000_000;
      return networkNs += 100_000_000;
    }

    private void step(int count) {
      stepping = true;
      try {
        for (int i = 0; i < count; i++) {
          nowNs += 2_000_000;
          turns++;
          steps.doWork();
        }
      } finally {
        stepping = false;
      }
    }

    void go(int count) {
      for (int i = 0; i < count; i++) {
        act();
      }
    }

    private void act() {
      ErdaClient client = clients.get(random.nextInt(CLIENTS));
      CommitStops.set(client, this::stop);
      String at = "key" + random.nextInt(keys);
      switch (random.nextInt(24)) {
        case 0 -> change(client, at, null);
        case 1 -> step(1 + random.nextInt(4));
        case 2 -> nowNs += random.nextInt(4) == 0 ? 2 * IDLE_NS : 1000;
        case 4 -> {
          if (random.nextInt(20) == 0) {
            core.cleaner().ask(-1);
          }
        }
        default -> change(client, at, value());
      }
      look(at);
    }

    private void look(String at) {
      ErdaClient client = clients.get(random.nextInt(CLIENTS));
      if (client == caller) {
        return;
      }
      byte[] found = client.get(bytes(at));
      assertArrayEquals(values.get(at), found, at);
    }

    private byte[] value() {
      byte[] made = new byte[random.nextInt(VALUE_BYTES)];
      random.nextBytes(made);
      return made;
    }

    private static byte[] bytes(String text) {
      return text.getBytes(StandardCharsets.UTF_8);
    }

    private void change(ErdaClient client, String at, byte[] to) {
      caller = client;
      key = at;
      value = to;
      wasSwapped = false;
      hasDied = false;
      mustNotSwap = false;
      boolean ended = false;
      boolean existed = false;
      try {
        if (to == null) {
          existed = client.delete(bytes(at));
        } else {
          client.put(bytes(at), to);
        }
        ended = true;
      } catch (ErdaException.Full e) {
        // Nothing was changed. The server cleans the log.
        assertFalse(wasSwapped, at);
        caller = null;
        full++;
        step(200);
        return;
      } catch (ErdaException e) {
        if (!hasDied) {
          throw e;
        }
      }
      caller = null;
      assertNull(late);
      if (hasDied) {
        // A commit that was stopped before its swap has no effect once the store was opened again.
        assertTrue(!ended || wasSwapped, "told as done: " + at);
        client.close();
        return;
      }
      if (!wasSwapped) {
        if (to == null) {
          assertEquals(values.get(at) != null, existed, "delete of " + at);
        }
        happened(at, to);
      }
    }

    private void happened(String at, byte[] to) {
      done += to != null || values.get(at) != null ? 1 : 0;
      if (to == null) {
        values.remove(at);
      } else {
        values.put(at, to);
      }
    }

    /** A client is at a point of its commit. */
    private void stop(int point) {
      if (isStopped) {
        return;
      }
      if (point == CommitStops.FOUND) {
        // A client that is stopped before the copy is a stranger of the device, which has none
        // here.
        mustNotSwap = false;
        return;
      }
      if (point == CommitStops.COPIED) {
        mustNotSwap = false;
      } else if (point == CommitStops.SWAPPED && mustNotSwap) {
        late = "a late swap of " + key + " came through";
        return;
      } else if (point == CommitStops.SWAPPED) {
        wasSwapped = true;
        happened(key, value);
      }
      if (stopsOneOf == 0 || random.nextInt(stopsOneOf) != 0) {
        return;
      }
      stops[point - 1]++;
      String stoppedAt = key;
      byte[] stoppedValue = value;
      boolean swapped = wasSwapped;
      isStopped = true;
      long before = core.figures().get("committers.defeated");
      long turnsBefore = turns;
      // After the server's death another file is in use, in which no record stands.
      Standing standing = hasDied ? null : standing();
      assertEquals(
          point == CommitStops.COPIED || hasDied, standing == null, "a record at point " + point);
      Region old = standing == null ? null : regionOf(standing);
      try {
        meanwhile(stoppedAt);
        if (standing != null && (turns != turnsBefore || hasDied)) {
          requireKept(standing, old);
        }
      } finally {
        isStopped = false;
        key = stoppedAt;
        value = stoppedValue;
        wasSwapped = swapped;
      }
      mustNotSwap |= turns != turnsBefore || hasDied;
      if (!hasDied) {
        defeated += core.figures().get("committers.defeated") - before;
      }
    }

    /** The record that stands, of which there is one at most in one thread. */
    private Standing standing() {
      try (CommitsFile file = CommitsFile.open(disk.anotherView())) {
        List<Standing> all = file.standing();
        assertTrue(all.size() <= 1, all::toString);
        return all.isEmpty() ? null : all.getFirst();
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    private Region regionOf(Standing standing) {
      return core.engine()
          .log()
          .region(Entry.headOf(standing.keyWord()), VersionWord.newest(standing.expected()));
    }

    /**
     * The entry has not the word that the stopped client expects, and no other key; and no other
     * region is where the word's newest version was. After an opening another table is in use.
     */
    private void requireKept(Standing standing, Region old) {
      for (Tables.Generation each : core.engine().tables().inUse()) {
        if (each.number() == standing.table()) {
          assertFalse(hasDied, "the table was not copied");
          long word = each.table().versionWord(standing.slot());
          assertNotEquals(standing.expected(), word, "the expected word");
          assertTrue(
              word == 0
                  || word == VersionWord.MOVED
                  || each.table().keyWord(standing.slot()) == standing.keyWord(),
              "another key");
        }
      }
      Region now = hasDied ? null : regionOf(standing);
      retired += old != now ? 1 : 0;
      assertTrue(now == null || now.generation() == old.generation(), "another region");
    }

    long retired;
    long full;

    private void meanwhile(String stoppedAt) {
      int count = 1 + random.nextInt(12);
      boolean died = dies && random.nextInt(4) == 0;
      for (int i = 0; i < count; i++) {
        switch (random.nextInt(8)) {
          case 0 -> step(1 + random.nextInt(4));
          case 1 -> {
            nowNs += 2 * IDLE_NS;
            step(2);
          }
          case 2, 3 -> {
            core.cleaner().ask(-1);
            step(40);
          }
          case 4 -> another(stoppedAt, random.nextInt(6) == 0 ? null : value());
          case 5 -> look(stoppedAt);
          default -> another("key" + random.nextInt(2 * keys), value());
        }
        if (died && i == count / 2) {
          die();
        }
      }
    }

    /** Another client changes a key while one is stopped. */
    private void another(String at, byte[] to) {
      ErdaClient client = clients.get(random.nextInt(CLIENTS));
      if (client == caller) {
        return;
      }
      try {
        if (to == null) {
          assertEquals(values.get(at) != null, client.delete(bytes(at)), "delete of " + at);
        } else {
          client.put(bytes(at), to);
        }
        happened(at, to);
      } catch (ErdaException.Full e) {
        full++;
        step(200);
      }
    }

    private void die() {
      deaths++;
      hasDied = true;
      paceNs[0] = 1_000_000_000;
      network.fail(new IllegalStateException("the server was killed"));
      try {
        open(disk.anotherView());
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    void check(String where) {
      for (int i = 0; i < 2 * keys; i++) {
        String at = "key" + i;
        assertArrayEquals(values.get(at), clients.getFirst().get(bytes(at)), where + ": " + at);
      }
    }

    Map<String, Long> idle() {
      for (int i = 0; i < 20_000 && steps.doWork() + (core.hasMore() ? 1 : 0) > 0; i++) {
        nowNs += 1000;
      }
      return steps.figures();
    }

    long liveBytes() {
      while (core.writer().live().doWork() > 0) {
        // goes on counting
      }
      return core.writer().live().total();
    }

    void close() {
      clients.forEach(ErdaClient::close);
      steps.end();
      core.close();
    }
  }

  private interface Scenario {
    void run(Run run) throws IOException;
  }

  private static void each(long first, int stopsOneOf, boolean dies, Scenario test)
      throws IOException {
    for (int number = 0; number < RUNS; number++) {
      try {
        test.run(new Run(first + number, stopsOneOf, dies));
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(
            "replay with -Derda.runs=1 -Derda.seed=" + (SEED + number) + ": " + e.getMessage(), e);
      }
    }
  }

  /** Live bytes, counts and marks are right, although the server has not seen the puts. */
  @Test
  void whatClientsCommitIsSeenAndCounted() throws IOException {
    long[] sums = new long[3];
    each(
        SEED,
        0,
        false,
        run -> {
          run.open(run.disk);
          run.go(3_000);
          run.check("at the end");
          Map<String, Long> figures = run.idle();
          sums[0] += figures.get("puts.shared");
          sums[1] += figures.get("cleaner.cleanings");
          sums[2] += run.core.writer().growth().doublings();
          assertEquals(run.done, figures.get("puts") + figures.get("deletes"));
          assertEquals(CLIENTS, figures.get("committers"));
          long live = run.liveBytes();
          run.close();
          assertFalse(run.disk.exists(Commits.FILE), "a clean stop leaves no file");
          assertTrue(run.disk.exists("stopped"), "no record of the stop");
          run.open(run.disk.anotherView());
          run.check("opened again");
          run.idle();
          assertEquals(run.liveBytes(), live, "live bytes");
          run.close();
          assertEquals(List.of(), StoreHarness.open(run.disk.anotherView(), SMALL).findings());
        });
    System.out.println(
        "CommitLinesTest: %,d commits, %,d cleanings, %,d doublings, from seed %d"
            .formatted(sums[0], sums[1], sums[2], SEED));
    assertTrue(sums[0] > 1_000L * RUNS, "clients have committed " + sums[0]);
    assertTrue(sums[1] > 5L * RUNS && sums[2] > RUNS, Arrays.toString(sums));
  }

  @Test
  void aCommitThatIsStoppedHasNoEffectLater() throws IOException {
    long[] stops = new long[5];
    long[] defeated = new long[2];
    each(
        SEED + 1000,
        12,
        false,
        run -> {
          run.open(run.disk);
          run.go(1_500);
          run.check("at the end");
          run.idle();
          run.close();
          add(stops, run.stops);
          defeated[0] += run.defeated;
          defeated[1] += run.retired;
          assertEquals(List.of(), StoreHarness.open(run.disk.anotherView(), SMALL).findings());
        });
    System.out.println(
        "CommitLinesTest: stopped at each point %s, %d defeated, %d regions gone, from seed %d"
            .formatted(Arrays.toString(stops), defeated[0], defeated[1], SEED));
    assertTrue(Arrays.stream(stops).min().orElse(0) > RUNS && defeated[0] > RUNS, "too little");
    assertTrue(defeated[1] > RUNS / 2, "no region was cleaned meanwhile");
  }

  @Test
  void aCommitThatIsStoppedHasNoEffectAfterTheServersDeath() throws IOException {
    long[] stops = new long[5];
    long[] deaths = new long[1];
    each(
        SEED + 2000,
        40,
        true,
        run -> {
          run.open(run.disk);
          run.go(1_500);
          run.check("at the end");
          run.idle();
          run.close();
          add(stops, run.stops);
          deaths[0] += run.deaths;
          assertEquals(List.of(), StoreHarness.open(run.disk.anotherView(), SMALL).findings());
        });
    System.out.println(
        "CommitLinesTest: stopped at each point %s, %d deaths, from seed %d"
            .formatted(Arrays.toString(stops), deaths[0], SEED));
    assertTrue(deaths[0] > RUNS, "too few deaths: " + deaths[0]);
  }

  private static void add(long[] to, long[] more) {
    for (int i = 0; i < to.length; i++) {
      to[i] += more[i];
    }
  }
}
