package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.Cleaner;
import io.erda.cleaner.CleanerOptions;
import io.erda.logstore.LinkListener;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.Region;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.protocol.Result;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.store.StoreWriter.Erasure;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The server puts, deletes, erases, cleans, and doubles and halves its table, while another writer
 * commits updates and deletes between any two of its stores. No update of either is lost, and no
 * older value comes back, also where the server dies and is opened again.
 */
class OtherCommitterTest {
  private static final long SEED = Long.getLong("erda.seed", 20261128L);
  private static final int VALUE_BYTES = 900;
  private static final int RUNS = Integer.getInteger("erda.runs", 24);
  private static final LogGeometry LOG = new LogGeometry(2, 1 << 16, 4096, 6);
  private static final StoreGeometry SMALL = new StoreGeometry(LOG, 8);
  private static final CleanerOptions OPTIONS = new CleanerOptions(2, 0, 0, 0, 0);

  private static final class Run {
    final Random random;
    final OtherCommitter committer;
    final HeapDirectory disk = new HeapDirectory();
    final int keys;
    StoreHarness store;
    Cleaner cleaner;
    int rounds;
    int freed;

    Run(long seed) {
      random = new Random(seed);
      committer = new OtherCommitter(random);
      keys = 4 + random.nextInt(40);
    }

    void open(MemoryDirectory directory) {
      store = StoreHarness.open(committer.between(directory), SMALL);
      cleaner =
          new Cleaner(
              store.engine.log(),
              store.writer.entries(),
              store.writer.live(),
              committer::end,
              new Cleaner.Listener() {
                @Override
                public void ended(Cleaner.Ended ended) {
                  rounds += ended.rounds();
                  freed += ended.freed() ? 1 : 0;
                }
              },
              OPTIONS);
      store
          .engine
          .log()
          .onLink(
              new LinkListener() {
                @Override
                public void linked(Region region) {
                  store.engine.root().nextEpoch();
                }

                @Override
                public void retired(Region region) {
                  store.engine.root().nextEpoch();
                }
              });
      committer.begin(store, 1 + random.nextInt(3));
    }

    void go(int steps) {
      for (int i = 0; i < steps; i++) {
        committer.lease();
        step();
      }
    }

    private void step() {
      String key = "key" + random.nextInt(keys);
      switch (random.nextInt(12)) {
        case 0 -> change(key, null);
        case 1 -> erase(key);
        case 2, 3, 4 -> clean();
        case 5, 6 -> store.grow();
        default -> {
          byte[] value = new byte[random.nextInt(VALUE_BYTES)];
          random.nextBytes(value);
          change(key, value);
        }
      }
      assertArrayEquals(committer.values.get(key), store.get(key), key);
    }

    private void change(String key, byte[] value) {
      committer.changes(key, value);
      int result = store.put(key, value);
      if (result == Result.LOG_FULL) {
        clean();
      }
      assertTrue(result == Result.OK || result == Result.LOG_FULL, Result.name(result));
      assertArrayEquals(committer.ended(result == Result.OK), store.get(key), key);
    }

    private void erase(String key) {
      committer.changes(key, null);
      byte[] bytes = key.getBytes();
      Erasure erasure = store.writer.erase(MemorySegment.ofArray(bytes), 0, bytes.length);
      assertTrue(erasure != Erasure.NOT_NOW, "nobody announces");
      assertArrayEquals(committer.ended(erasure == Erasure.ERASED), store.get(key), key);
    }

    private void clean() {
      if (!cleaner.asked()) {
        cleaner.ask(-1);
      }
      for (int i = 0; i < 40 && cleaner.doWork(i) > 0; i++) {
        // The cleaner has ended what the other writer had leased in its region.
        committer.lease();
      }
    }

    void check(String where) {
      Set<String> all = new HashSet<>(committer.values.keySet());
      for (int i = 0; i < keys; i++) {
        all.add("key" + i);
      }
      for (String key : all) {
        assertArrayEquals(committer.values.get(key), store.get(key), where + ": " + key);
      }
      assertEquals(List.of(), store.findings(), where);
    }
  }

  @Test
  void noUpdateIsLost() {
    long commits = 0;
    long cleanings = 0;
    long resizings = 0;
    long rounds = 0;
    for (int run = 0; run < RUNS; run++) {
      long seed = SEED + run;
      String where = "replay with -Derda.runs=1 -Derda.seed=" + seed;
      try {
        Run one = new Run(seed);
        one.open(one.disk);
        one.go(600);
        one.committer.stop();
        one.check("at the end");
        commits += one.committer.commits;
        cleanings += one.freed;
        rounds += one.rounds;
        resizings += one.store.writer.growth().doublings() + one.store.writer.growth().halvings();
        one.store.close();
        one.open(one.disk.anotherView());
        one.check("opened again");
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(where + ": " + e.getMessage(), e);
      }
    }
    System.out.println(
        "OtherCommitterTest: %,d commits, %,d cleanings in %,d rounds, %,d resizings from seed %d"
            .formatted(commits, cleanings, rounds, resizings, SEED));
    assertTrue(commits > 100L * RUNS && cleanings > 2L * RUNS && resizings > RUNS, "too little");
    // A swap that the cleaner lost is tried again at once. Where it waits for the next round, there
    // are 1.7 rounds for each cleaning.
    assertTrue(rounds < 1.1 * cleanings, "other writers make the cleaner sweep again");
  }

  /** The other writer comes before every store of the server, always to the same key. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void aHotKeyKeepsNobodyWaiting(long number) {
    Run run = new Run(SEED + number);
    run.open(run.disk);
    run.change("key0", new byte[1]);
    run.committer.begin(run.store, 1);
    run.committer.hot("key0");
    long most = 0;
    for (int i = 0; i < 300; i++) {
      run.committer.lease();
      run.change("key0", new byte[i % VALUE_BYTES]);
      most = Math.max(most, run.committer.commitsMeanwhile());
      run.clean();
      if (i % 50 == 0) {
        run.erase("key0");
        most = Math.max(most, run.committer.commitsMeanwhile());
        run.change("key0", new byte[1]);
      }
    }
    assertTrue(most >= 8 && most < 32, most + " commits came before one of the server's");
    run.committer.stop();
    run.check("at the end");
  }

  @Test
  void whatWasCommittedSurvivesTheServersDeath() {
    for (int run = 0; run < RUNS; run++) {
      long seed = SEED + 1000 + run;
      try {
        diesAndIsOpenedAgain(new Run(seed));
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("-Derda.seed=" + (seed - 1000) + ": " + e.getMessage(), e);
      }
    }
  }

  private static void diesAndIsOpenedAgain(Run run) {
    for (int life = 0; life < 6; life++) {
      try {
        run.open(new CrashingDirectory(run.disk.anotherView(), 200 + run.random.nextInt(6000)));
        run.go(400);
      } catch (CrashingDirectory.Crash e) {
        // The store is opened again.
      }
      run.committer.forget();
      run.committer.settle(StoreHarness.open(run.disk.anotherView(), SMALL));
    }
    run.open(run.disk.anotherView());
    run.committer.stop();
    run.check("at the end");
  }
}
