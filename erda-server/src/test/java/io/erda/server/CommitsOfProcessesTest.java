package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Processes commit by themselves in the table of a server, which cleans and doubles. They are
 * stopped at each point of a commit, stopped and killed at any moment, and the server ends and
 * starts again meanwhile.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CommitsOfProcessesTest {
  private static final long SEED = Long.getLong("erda.seed", 20261130L);
  private static final ServerOptions OPTIONS =
      ServedElsewhere.OPTIONS.withBuckets(64).withCommits(Committers.OWN);

  @TempDir Path directory;

  private Path data() {
    return directory.resolve("data");
  }

  private ErdaServer serve() {
    return ErdaServer.start(data(), OPTIONS);
  }

  private static Map<String, Long> figures(ErdaServer server) throws InterruptedException {
    return server.figures(Duration.ofSeconds(20));
  }

  private ErdaClient connect() {
    return ErdaClient.connect("erda+shm:" + data().toAbsolutePath());
  }

  @Test
  void clientsCommitByThemselves() throws Exception {
    try (ErdaServer server = serve();
        ErdaClient client = connect();
        ErdaClient other = connect()) {
      byte[] key = CommittingProcess.key(0, 0);
      client.put(key, key);
      for (int i = 1; i <= 10_000; i++) {
        client.put(key, CommittingProcess.value(1, i));
        assertArrayEquals(CommittingProcess.value(1, i), other.get(key));
      }
      assertTrue(client.delete(key));
      Map<String, Long> figures = figures(server);
      assertEquals(2, figures.get("committers"));
      assertEquals(10_002, figures.get("puts") + figures.get("deletes"));
      assertTrue(figures.get("puts.shared") > 1_000, figures::toString);
      assertTrue(figures.get("cleaner.cleanings") >= 0);
    }
  }

  @Test
  void noneDoesUnlessTheServerSaysSo() throws Exception {
    try (ErdaServer server = ErdaServer.start(data(), ServedElsewhere.OPTIONS);
        ErdaClient client = connect()) {
      for (int i = 0; i < 1_000; i++) {
        client.put(new byte[] {1}, new byte[i]);
      }
      assertEquals(0, figures(server).get("puts.shared"));
      assertEquals(0, figures(server).get("committers"));
      assertTrue(Files.notExists(data().resolve("commits")));
    }
  }

  @Test
  void theFileThatWasShortenedIsNamed() throws Exception {
    try (ErdaServer server = serve();
        ErdaClient client = connect()) {
      write(client, 10);
      assertEquals(1, figures(server).get("committers"));
      try (FileChannel file =
          FileChannel.open(data().resolve("commits"), StandardOpenOption.WRITE)) {
        file.truncate(4096);
      }
      ErdaException.ReadOnly e =
          assertThrows(ErdaException.ReadOnly.class, () -> write(client, 10_000));
      assertTrue(
          e.getMessage().contains("commits was shortened while it was in use"), e::getMessage);
    }
    try (ErdaServer server = serve()) {
      assertEquals(0, figures(server).get("committers.stalled"));
    }
  }

  /** A process stands still at each point of a commit, and goes on much later. */
  @ParameterizedTest
  @CsvSource({"2, false", "3, false", "4, true", "3, true"})
  void aStoppedCommitIsLate(int point, boolean restarts) throws Exception {
    ErdaServer server = serve();
    try (CommittingProcess process =
        CommittingProcess.start(data(), directory.resolve("process"), 1, point)) {
      process.await("stands");
      int key = process.stoppedKey();
      long stopped = process.counts(key)[0];
      boolean happened = point >= CommitStops.SWAPPED;
      try (ErdaClient client = connect()) {
        byte[] before = client.get(CommittingProcess.key(1, key));
        assertEquals(
            happened,
            before != null && CommittingProcess.sequenceOf(before) == stopped,
            "whether the put has happened");
        write(client, 2_000);
        assertArrayEquals(before, client.get(CommittingProcess.key(1, key)));
      }
      if (!happened && point > CommitStops.COPIED) {
        assertEquals(1, figures(server).get("committers.stalled"));
      }
      if (restarts) {
        server.close();
        server = serve();
      }
      byte[] now;
      try (ErdaClient client = connect()) {
        write(client, 500);
        now = client.get(CommittingProcess.key(1, key));
        process.tell("go");
        long untilNs = System.nanoTime() + 60_000_000_000L;
        while (!process.has("done") && !process.has("failed")) {
          assertTrue(process.isAlive() && System.nanoTime() - untilNs < 0, "it does not go on");
          Thread.sleep(1);
        }
        if (process.has("failed")) {
          assertTrue(restarts, "it failed beside a server that serves");
          byte[] after = client.get(CommittingProcess.key(1, key));
          // It may have put other values to the key since.
          assertTrue(
              CommittingProcess.sequenceOf(after) == CommittingProcess.sequenceOf(now)
                  || CommittingProcess.sequenceOf(after) > stopped,
              "a put that failed has happened later");
        }
        process.tell("end");
        verify(client, List.of(process));
      }
    } finally {
      server.close();
    }
    verifyFiles();
  }

  private static void write(ErdaClient client, int count) {
    byte[] value = new byte[4000];
    for (int i = 0; i < count; i++) {
      client.put(("other " + i % 500).getBytes(java.nio.charset.StandardCharsets.UTF_8), value);
    }
  }

  @Test
  @Tag("long")
  void theyAreStoppedAndKilledAtAnyMoment() throws Exception {
    Random random = new Random(SEED);
    ErdaServer server = serve();
    List<CommittingProcess> all = new ArrayList<>();
    List<CommittingProcess> running = new ArrayList<>();
    long commits = 0;
    long defeated = 0;
    try {
      for (int round = 0; round < 120; round++) {
        if (running.size() < 3) {
          CommittingProcess one =
              CommittingProcess.start(
                  data(), directory.resolve("process" + all.size()), all.size(), -1);
          all.add(one);
          running.add(one);
        }
        CommittingProcess one = running.get(random.nextInt(running.size()));
        switch (random.nextInt(8)) {
          case 0 -> {
            one.kill();
            running.remove(one);
          }
          case 1 -> {
            Map<String, Long> figures = figures(server);
            commits += figures.get("puts.shared");
            defeated += figures.get("committers.defeated");
            server.close();
            server = serve();
          }
          default -> {
            one.signal("STOP");
            Thread.sleep(random.nextInt(60));
            one.signal("CONT");
          }
        }
        Thread.sleep(random.nextInt(100));
      }
      Map<String, Long> figures = figures(server);
      commits += figures.get("puts.shared");
      defeated += figures.get("committers.defeated");
      for (CommittingProcess each : running) {
        each.kill();
      }
      try (ErdaClient client = connect()) {
        verify(client, all);
      }
    } finally {
      all.forEach(each -> {
        try {
          each.close();
        } catch (java.io.IOException e) {
          throw new java.io.UncheckedIOException(e);
        }
      });
      server.close();
    }
    System.out.println(
        "CommitsOfProcessesTest: %,d commits by %d processes, %d defeated"
            .formatted(commits, all.size(), defeated));
    assertTrue(commits > 10_000, "too few commits: " + commits);
    verifyFiles();
  }

  private static void verify(ErdaClient client, List<CommittingProcess> all) throws Exception {
    for (CommittingProcess each : all) {
      for (int key = 0; key < CommittingProcess.KEYS; key++) {
        verify(client, each, key);
      }
    }
    for (int key = 0; key < CommittingProcess.SHARED_KEYS; key++) {
      byte[] found = client.get(CommittingProcess.key(-1, key));
      if (found != null) {
        assertArrayEquals(
            CommittingProcess.value(
                CommittingProcess.numberOf(found), CommittingProcess.sequenceOf(found)),
            found,
            "a value that nobody put");
      }
    }
  }

  private static void verify(ErdaClient client, CommittingProcess process, int key)
      throws Exception {
    long done = process.counts(key)[1];
    byte[] found = client.get(CommittingProcess.key(process.number, key));
    long begun = process.counts(key)[0];
    String where = "key " + key + " of process " + process.number + ", done " + done;
    assertTrue(done == 0 || found != null, () -> where + ": a value is lost");
    if (found != null) {
      long sequence = CommittingProcess.sequenceOf(found);
      assertTrue(
          done <= sequence && sequence <= begun,
          () -> where + ", begun " + begun + ": " + sequence);
      assertArrayEquals(CommittingProcess.value(process.number, sequence), found, where);
    }
  }

  private void verifyFiles() {
    assertEquals(List.of(), StoreVerifier.verify(data()).findings());
  }
}
