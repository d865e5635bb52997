package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.protocol.ErdaException;
import io.erda.server.ErdaServer;
import io.erda.server.ErdaStore;
import io.erda.server.ServerOptions;
import io.erda.server.StoreVerifier;
import io.erda.server.VerifyReport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One fault at a time, in any file of stores that were stopped cleanly, killed, killed in a
 * cleaning and in a doubling. {@code verify} is held to account: it ends with a report or a typed
 * error, an opening does too, and no key is missing, old or wrong that {@code verify} did not name
 * or the decision on the record of a stop does not except. A fault in {@code shm/} stops no
 * opening.
 *
 * <p>{@code -Derda.faults=2000} makes so many; {@code -Derda.seed=S -Derda.faults=1} repeats the
 * one that was printed with S.
 */
class SingleFaultsTest {
  private static final long SEED = Long.getLong("erda.seed", 20261122L);
  private static final int FAULTS = Integer.getInteger("erda.faults", 60);

  /** One fault in so many is made in {@code shm/}. */
  private static final int SHM_ODDS = 10;

  private static final long STORES_SEED = 4711;
  private static final int NEW_KEYS = 20;

  /**
   * The time-outs are long, because on a busy machine an answer may take long. A hang is detected
   * by the time limit of the whole fault.
   */
  private static final ClientOptions CLIENT =
      ClientOptions.DEFAULT
          .withConnectTimeout(Duration.ofMinutes(1))
          .withOperationTimeout(Duration.ofMinutes(1));

  private static final ServerOptions OPTIONS =
      ServerOptions.DEFAULTS
          .withHeads(2)
          .withRegionBytes(1 << 16)
          .withSegmentBytes(4096)
          .withCapacityBytes(1 << 20)
          .withBuckets(64);

  /** The result for a store with a fault: the worst result of any key. */
  private enum Outcome {
    /** Every key is right, and nothing was found. */
    RIGHT,
    /** Every key is right, and verify found or doubted something. */
    RIGHT_AND_FOUND,
    /** The opening was refused. */
    REFUSED,
    /** A get says that the key is damaged, and verify named it. */
    SAID,
    /** A key is wrong, and verify named it in a finding. */
    FOUND,
    /** The value of a key is wrong, and verify found damage whose key is unknown. */
    FOUND_WITHOUT_KEY,
    /** A key is wrong, and verify doubted it. */
    DOUBTED,
    /** A key fell back to a version that lies behind its newest, in a store that was killed. */
    EXCEPTED,
    /** None of these may be. */
    FAILED
  }

  private static final class Unaccounted extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Unaccounted(String message) {
      super(message);
    }
  }

  @TempDir Path directory;

  @Test
  void singleFaults() throws Exception {
    List<FaultedStore> stores = FaultedStore.all(STORES_SEED);
    FaultedStore another = FaultedStore.stopped(STORES_SEED + 100);
    Map<String, byte[]> shm = shmFiles(another);
    Map<SingleFault.Kind, Map<Outcome, Integer>> table = new EnumMap<>(SingleFault.Kind.class);
    Map<String, Map<Outcome, Integer>> byStore = new TreeMap<>();
    List<String> failures = new ArrayList<>();
    ExecutorService runner = Executors.newSingleThreadExecutor();
    for (int i = 0; i < FAULTS; i++) {
      long seed = SEED + i;
      Random random = new Random(seed);
      random.nextInt();
      FaultedStore store = stores.get(random.nextInt(stores.size()));
      boolean inShm = random.nextInt(SHM_ODDS) == 0;
      SingleFault fault = SingleFault.in(store, another, shm, inShm, random);
      Path run = Files.createDirectory(directory.resolve("fault-" + i));
      Outcome outcome;
      try {
        outcome = runner.submit(() -> outcome(run, store, fault, inShm)).get(2, TimeUnit.MINUTES);
      } catch (ExecutionException | TimeoutException e) {
        outcome = Outcome.FAILED;
        failures.add(
            "-Derda.seed=%d -Derda.faults=1: %s: %s: %s%s"
                .formatted(
                    seed,
                    store.name(),
                    fault,
                    e instanceof TimeoutException ? "hangs" : e.getCause(),
                    e.getCause() instanceof Unaccounted || e.getCause() == null
                        ? ""
                        : " " + List.of(e.getCause().getStackTrace())));
      }
      table
          .computeIfAbsent(fault.kind(), it -> new EnumMap<>(Outcome.class))
          .merge(outcome, 1, Integer::sum);
      byStore
          .computeIfAbsent(
              (inShm ? "shm of: " : "") + store.name(), it -> new EnumMap<>(Outcome.class))
          .merge(outcome, 1, Integer::sum);
      delete(run);
    }
    runner.shutdownNow();
    System.out.println(
        "SingleFaultsTest: " + FAULTS + " faults from seed " + SEED + ": " + table + " " + byStore);
    assertEquals(List.of(), failures, String.join("\n", failures));
  }

  private static Outcome outcome(Path run, FaultedStore store, SingleFault fault, boolean inShm)
      throws IOException {
    Path verified = write(run.resolve("verified"), fault.files());
    VerifyReport report = null;
    try {
      report = StoreVerifier.verify(verified);
    } catch (ErdaException e) {
      requireOneLine(e);
    }
    requireSums(report);
    Path opened = write(run.resolve("opened"), fault.files());
    Reading reading = new Reading(store, report);
    try {
      if (inShm) {
        try (ErdaServer server = ErdaServer.start(opened, OPTIONS);
            ErdaClient erda = ErdaClient.connect(ErdaUri.parse(server.uri()), CLIENT)) {
          reading.readAll(erda);
        }
      } else {
        try (ErdaStore embedded = ErdaStore.open(opened, OPTIONS);
            ErdaClient erda = embedded.client(CLIENT)) {
          reading.readAll(erda);
        }
      }
    } catch (ErdaException e) {
      requireOneLine(e);
      if (inShm) {
        throw new Unaccounted("a fault in shm/ stops the store: " + e);
      }
      if (reading.begun) {
        throw new Unaccounted("the store opened and failed then: " + e);
      }
      if (report != null && report.findingsCount() == 0) {
        throw new Unaccounted("verify finds nothing, and an opening is refused: " + e);
      }
      return Outcome.REFUSED;
    }
    return reading.worst;
  }

  private static void requireOneLine(ErdaException e) {
    if (e.getMessage().contains("\n")) {
      throw new Unaccounted("not one line: " + e.getMessage());
    }
  }

  private static void requireSums(VerifyReport report) {
    if (report != null
        && report.entries()
            != report.values() + report.tombstones() + report.undecided() + report.damaged()) {
      throw new Unaccounted("the sums of verify's entries are wrong: " + report);
    }
  }

  /** All keys, new keys beside them, and all keys again. */
  private static final class Reading {
    private final FaultedStore store;
    private final VerifyReport report;
    private final Set<String> found = new HashSet<>();
    private final Set<String> doubted = new HashSet<>();
    private boolean unnamed;
    boolean begun;
    Outcome worst = Outcome.RIGHT;

    Reading(FaultedStore store, VerifyReport report) {
      this.store = store;
      this.report = report;
      if (report != null) {
        for (VerifyReport.Finding finding : report.findings()) {
          unnamed |= finding.key() == null;
          name(found, finding.key());
        }
        report.doubts().forEach(doubt -> name(doubted, doubt.key()));
        if (report.findingsCount() > 0) {
          worst = Outcome.RIGHT_AND_FOUND;
        }
      }
    }

    private static void name(Set<String> names, byte[] key) {
      if (key != null) {
        names.add(new String(key, StandardCharsets.UTF_8));
      }
    }

    void readAll(ErdaClient erda) {
      begun = true;
      if (report == null) {
        throw new Unaccounted("verify is refused, and the store opens");
      }
      store.values().keySet().forEach(key -> read(erda, key));
      try {
        for (int i = 0; i < NEW_KEYS; i++) {
          byte[] key = ("a new key " + i).getBytes(StandardCharsets.UTF_8);
          erda.put(key, new byte[300]);
          if (erda.get(key).length != 300) {
            throw new Unaccounted("a new key is not what was put");
          }
        }
      } catch (ErdaException.Full e) {
        // There is less room than there was.
      }
      store.values().keySet().forEach(key -> read(erda, key));
    }

    private void read(ErdaClient erda, String key) {
      byte[] value = store.values().get(key);
      byte[] read;
      try {
        read = erda.get(key.getBytes(StandardCharsets.UTF_8));
      } catch (ErdaException.Damaged e) {
        if (!found.contains(key) && !unnamed) {
          throw new Unaccounted(key + " is damaged, and verify has not found it: " + e);
        }
        met(Outcome.SAID);
        return;
      }
      if (Arrays.equals(value, read)) {
        return;
      }
      if (found.contains(key)) {
        met(Outcome.FOUND);
      } else if (doubted.contains(key)) {
        met(Outcome.DOUBTED);
      } else if (unnamed) {
        met(Outcome.FOUND_WITHOUT_KEY);
      } else if (store.excuses(key, read)) {
        met(Outcome.EXCEPTED);
      } else {
        throw new Unaccounted(
            "%s is %s, and verify has not found it"
                .formatted(
                    key,
                    read == null
                        ? "missing"
                        : store.versions().getOrDefault(key, List.of()).stream()
                                .anyMatch(version -> Arrays.equals(version.value(), read))
                            ? "old"
                            : "wrong"));
      }
    }

    private void met(Outcome outcome) {
      if (outcome.compareTo(worst) > 0) {
        worst = outcome;
      }
    }
  }

  /** Returns the files that a killed server leaves in {@code shm/}, by path. */
  private Map<String, byte[]> shmFiles(FaultedStore store) throws IOException {
    Path data = write(directory.resolve("served"), store.files());
    Map<String, byte[]> files = new TreeMap<>();
    try (ErdaServer server = ErdaServer.start(data, OPTIONS);
        ErdaClient erda = ErdaClient.connect(server.uri())) {
      erda.put(new byte[] {1}, new byte[] {2});
      try (Stream<Path> all = Files.list(data.resolve("shm"))) {
        for (Path file : all.filter(Files::isRegularFile).sorted().toList()) {
          String name = file.getFileName().toString();
          if (!name.startsWith("spare-") || name.endsWith("-0") || name.endsWith("-1")) {
            files.put("shm/" + name, Files.readAllBytes(file));
          }
        }
      }
    }
    return files;
  }

  private static Path write(Path data, Map<String, byte[]> files) throws IOException {
    Files.createDirectories(data);
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      Path path = data.resolve(file.getKey());
      Files.createDirectories(path.getParent());
      Files.write(path, file.getValue());
    }
    return data;
  }

  private static void delete(Path tree) throws IOException {
    try (Stream<Path> paths = Files.walk(tree)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
