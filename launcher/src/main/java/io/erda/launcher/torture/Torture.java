package io.erda.launcher.torture;

import io.erda.cleaner.Phase;
import io.erda.eval.Progress;
import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ProcessException;
import io.erda.eval.process.ServerChild;
import io.erda.server.StoreVerifier;
import io.erda.server.VerifyReport;
import io.erda.simulation.history.History;
import io.erda.simulation.history.HistoryLog;
import io.erda.simulation.history.LinearizabilityChecker;
import io.erda.simulation.history.Operation;
import io.erda.simulation.history.Outcome;
import io.erda.simulation.history.Verdict;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/**
 * Real processes under real signals: a server and clients. The server is killed, at least a fifth
 * of the times while it recovers; clients are killed; a writer is stopped, the server killed and
 * restarted, the writer continued. At the end the complete history must be linearizable, which says
 * that every acknowledged value held and what was refused had no effect, and the store must verify.
 *
 * <p>Stores take turns. Each begins with a tiny table and gets more and more keys, so that the
 * table doubles, and is so small that its log is cleaned all the time; one is too small for what is
 * put into it, so that it runs full. Some kills wait for a cleaning or a doubling to be under way.
 *
 * <p>The seed decides what is done when; what the kernel makes of it is never twice the same.
 */
public final class Torture {
  /** Every client works on these all the time. */
  static final int HOT_KEYS = 6;

  private static final int BYSTANDER = 1;
  private static final Duration TOO_LONG = Duration.ofSeconds(30);
  private static final long BURST_SPREAD_NS = 6_000_000;

  /** How long a kill waits for what it is to hit. */
  private static final long AIM_NS_MAX = 150_000_000;

  /** Kills of servers after which some must have hit a cleaning and a doubling. */
  private static final int KILLS_THAT_MUST_HIT = 100;

  private static final int ACTIONS_A_STORE = 25;

  /** Before one of so many starts of a server another process opens the store for itself. */
  private static final int EMBEDDED_ODDS = 3;

  /**
   * A store to be created.
   *
   * @param keysMax that it gets in time
   * @param fills more is put into it than it holds
   */
  private record Store(int keysMax, boolean fills, List<String> options) {}

  private static final List<Store> STORES =
      List.of(
          store(1500, false, "128K", "16K", "2M", "1", "16"),
          store(3000, false, "256K", "32K", "3M", "2", "16"),
          store(10_000, false, "1M", "64K", "8M", "1", "256"),
          store(5000, true, "128K", "16K", "1M", "1", "16"));

  private static Store store(
      int keysMax,
      boolean fills,
      String region,
      String segment,
      String capacity,
      String heads,
      String buckets) {
    return new Store(
        keysMax,
        fills,
        List.of(
            "--region-bytes", region,
            "--segment-bytes", segment,
            "--capacity", capacity,
            "--heads", heads,
            "--buckets", buckets));
  }

  /**
   * How long and with what.
   *
   * @param seconds at least
   * @param kills at least, of server and clients together; 0: as many as come in the time
   * @param clients at a time, at least 2
   * @param accessMsMax how long after a client's kill its keys may keep others waiting
   */
  public record Options(
      int seconds, int kills, int clients, long seed, long accessMsMax, Path temporaryDirectory) {}

  /**
   * What happened.
   *
   * @param slowestAccessNs after a client's kill: the longest put and get of another client
   * @param killsInCleaning kills of a server after which the next one found a cleaning to go on
   *     with
   * @param killsInDoubling the same of a doubling of the table
   * @param embeddedOpenings between two servers, by a process of its own
   * @param embeddedKills of those processes
   * @param space what the servers' figures said before they were killed, so it is at least that
   * @param violations empty when all is well; for people
   */
  public record Result(
      int serverKills,
      int serverKillsInRecovery,
      int killsInCleaning,
      int killsInDoubling,
      int clientKills,
      int stopsAcrossRestart,
      int operations,
      int unknownOutcomes,
      long slowestAccessNs,
      int embeddedOpenings,
      int embeddedKills,
      Space space,
      List<String> violations) {
    public Result {
      violations = List.copyOf(violations);
    }
  }

  /**
   * What happened to the space of all stores.
   *
   * @param regionsFreed by cleaning
   * @param refused requests for want of space
   */
  public record Space(
      int stores, long regionsFreed, long bytesCopied, long doublings, long refused) {}

  private record Client(int number, Child process) {}

  private record Mark(long timeNs, String text) {}

  private final Children children;
  private final Jvm jvm;
  private final Options options;
  private final Progress progress;
  private final SplittableRandom random;
  private final EmbeddedOpenings embedded;
  private final List<Client> clients = new ArrayList<>();
  private final List<String> violations = new ArrayList<>();
  private final List<Path> logs = new ArrayList<>();
  private final List<Mark> marks = new ArrayList<>();
  private final Map<String, Long> sums = new HashMap<>();
  private Store store;
  private Path files;
  private int keys;
  private int stores;
  private int operations;
  private int unknownOutcomes;
  private int killsInCleaning;
  private int killsInDoubling;
  private Map<String, Long> figures = Map.of();
  private Path data;
  private ServerChild server;
  private TortureActor bystander;
  private HistoryLog bystanderLog;
  private int clientNumber = BYSTANDER;
  private int serverKills;
  private int serverKillsInRecovery;
  private int clientKills;
  private int stops;
  private long recoveryNs = 50_000_000;
  private long slowestAccessNs;

  public Torture(Children children, Jvm jvm, Options options, Progress progress) {
    this.children = children;
    this.jvm = jvm.with("-XX:TieredStopAtLevel=1", "-Xmx512m");
    this.options = options;
    this.progress = progress;
    this.random = new SplittableRandom(options.seed());
    this.embedded = new EmbeddedOpenings(children, this.jvm, random.split());
  }

  /** Runs it. Processes and files are gone when {@code children} is closed. */
  public Result run() throws IOException {
    progress.step("torture, seed " + options.seed());
    long endNs = System.nanoTime() + options.seconds() * 1_000_000_000L;
    do {
      begin(STORES.get(stores++ % STORES.size()));
      for (int i = 0; i < ACTIONS_A_STORE && (i == 0 || !isEnough(endNs)); i++) {
        act();
        progress.at(counts());
      }
      end();
    } while (!isEnough(endNs) && violations.isEmpty());
    progress.done(counts());
    return result();
  }

  private boolean isEnough(long endNs) {
    return System.nanoTime() - endNs >= 0 && serverKills + clientKills >= options.kills();
  }

  private String counts() {
    return "%d stores, %d server kills, %d client kills, %d stops"
        .formatted(stores, serverKills, clientKills, stops);
  }

  private void begin(Store next) throws IOException {
    store = next;
    keys = HOT_KEYS;
    data = children.temporaryDirectory(options.temporaryDirectory(), "erda-torture-");
    files = children.temporaryDirectory(options.temporaryDirectory(), "erda-torture-history-");
    logs.clear();
    marks.clear();
    server = ServerChild.start(children, jvm, data, store.options());
    Path bystanderFile = files.resolve("history-" + BYSTANDER);
    bystanderLog = HistoryLog.create(bystanderFile, BYSTANDER, System::nanoTime);
    logs.add(bystanderFile);
    bystander = new TortureActor(server.uri(), BYSTANDER, store.keysMax(), bystanderLog);
    for (int i = 0; i < options.clients(); i++) {
      clients.add(startClient());
    }
  }

  private void end() throws IOException {
    endClients();
    readAllKeys();
    if (store.fills()) {
      makeRoom();
    }
    keepFigures();
    sumFigures();
    bystander.close();
    server.kill();
    checkHistory();
    verifyStore();
  }

  private void mark(String text) {
    marks.add(new Mark(System.nanoTime(), text));
  }

  private void act() throws IOException {
    addKeys();
    tellClients("burst");
    pause(random.nextLong(20_000_000, 250_000_000));
    int choice = random.nextInt(100);
    if (choice < 45) {
      killServer();
      restartServer();
    } else if (choice < 80) {
      killClient();
    } else {
      stopClientAcrossRestart();
    }
    restartEndedClients();
  }

  /** Half as many more each time: as many doublings of small tables as of large ones. */
  private void addKeys() {
    keys = Math.min(store.keysMax(), keys + keys / 2);
    tellClients("keys " + keys);
  }

  /** Lets everybody be at work. */
  private void burst() {
    tellClients("burst");
    pause(random.nextLong(BURST_SPREAD_NS));
  }

  private void tellClients(String what) {
    for (Client client : clients) {
      if (client.process().isAlive()) {
        try {
          client.process().tell(what);
        } catch (ProcessException e) {
          // It ended by itself, which is looked at after this.
        }
      }
    }
  }

  private void keepFigures() {
    Map<String, Long> now = bystander.figures();
    figures = now == null ? figures : now;
  }

  /** Of a server whose life ends. */
  private void sumFigures() {
    figures.forEach((name, value) -> sums.merge(name, value, Long::sum));
    figures = Map.of();
  }

  /** Waits until the server is in the middle of something, but not for long. */
  private void aim(Predicate<Map<String, Long>> at) {
    long endNs = System.nanoTime() + AIM_NS_MAX;
    do {
      keepFigures();
    } while (!at.test(figures) && System.nanoTime() - endNs < 0);
  }

  /** Puts what is missing until the table has to double. */
  private void aimAtDoubling() throws IOException {
    aim(known -> known.getOrDefault("table.entries", -1L) >= 0);
    long missing =
        1
            + figures.getOrDefault("table.buckets", 0L) / 2
            - figures.getOrDefault("table.entries", 0L);
    for (; missing > 0 && keys < store.keysMax(); missing--) {
      access(Operation.PUT, keys++);
    }
    aim(Torture::moves);
  }

  private static boolean copies(Map<String, Long> figures) {
    return figures.getOrDefault("cleaner.phase", 0L) >= Phase.MERGE.ordinal();
  }

  private static boolean moves(Map<String, Long> figures) {
    return figures.getOrDefault("table.doubling", 0L) != 0
        && figures.getOrDefault("table.doubling.percent", 100L) < 100;
  }

  private void killServer() throws IOException {
    burst();
    switch (random.nextInt(4)) {
      case 0 -> {
        bystander.clean();
        aim(Torture::copies);
      }
      case 1 -> aim(Torture::copies);
      case 2 -> aimAtDoubling();
      default -> keepFigures();
    }
    server.kill();
    serverKills++;
    mark("server killed");
    sumFigures();
  }

  /**
   * Starts the server again; kills it in its recovery, once or several times, when it is the turn
   * of that.
   */
  private void restartServer() {
    if (random.nextInt(EMBEDDED_ODDS) == 0) {
      openEmbedded();
    }
    while (serverKillsInRecovery * 4 < serverKills || random.nextInt(4) == 0) {
      server = ServerChild.spawn(children, jvm, data, List.of());
      server.awaitOpening();
      pause(random.nextLong(recoveryNs));
      server.kill();
      serverKills++;
      boolean served = server.serves(Duration.ofMillis(200));
      serverKillsInRecovery += served ? 0 : 1;
      mark(served ? "server killed" : "server killed in recovery");
    }
    server = ServerChild.spawn(children, jvm, data, List.of());
    server.awaitOpening();
    long openingNs = System.nanoTime();
    server.awaitServing();
    recoveryNs = (3 * recoveryNs + System.nanoTime() - openingNs) / 4;
    mark("server serves");
    keepFigures();
    killsInCleaning += (int) (long) figures.getOrDefault("recovery.cleaning", 0L);
    killsInDoubling += (int) (long) figures.getOrDefault("recovery.doubling", 0L);
  }

  /** Another process has the store for itself, while the server's clients live on. */
  private void openEmbedded() {
    int firstClient = clientNumber + 1;
    clientNumber += embedded.clientsMax();
    EmbeddedOpenings.Opening opening =
        embedded.open(data, files, firstClient, store.keysMax(), keys);
    mark(opening.killed() ? "embedded store killed" : "embedded store closed");
    logs.addAll(opening.histories());
    violations.addAll(opening.complaints());
  }

  private void killClient() throws IOException {
    int index = random.nextInt(clients.size());
    burst();
    Client client = clients.get(index);
    client.process().kill();
    clientKills++;
    mark("client " + client.number() + " killed");
    accessAllKeys();
    replace(index);
  }

  private void stopClientAcrossRestart() throws IOException {
    Client client = clients.get(random.nextInt(clients.size()));
    burst();
    signal("-STOP", client);
    mark("client " + client.number() + " stopped");
    stops++;
    pause(random.nextLong(10_000_000));
    killServer();
    restartServer();
    pause(random.nextLong(300_000_000));
    accessAllKeys();
    signal("-CONT", client);
    mark("client " + client.number() + " continues");
    pause(random.nextLong(100_000_000));
  }

  private void signal(String signal, Client client) {
    Child kill =
        children.start("kill", List.of("kill", signal, Long.toString(client.process().pid())));
    int exitCode = kill.awaitEnd(TOO_LONG);
    if (exitCode != 0) {
      throw new ProcessException(
          "kill " + signal + " ended with exit code " + exitCode + kill.errorTail());
    }
    children.forget(kill);
  }

  /**
   * Reads and writes every key, as somebody who has nothing to do with the client that was killed
   * or stopped.
   */
  private void accessAllKeys() throws IOException {
    for (int key = 0; key < HOT_KEYS; key++) {
      long startNs = System.nanoTime();
      access(Operation.GET, key);
      TortureActor.Outcome outcome = access(Operation.PUT, key);
      if (!store.fills()) {
        slowestAccessNs = Math.max(slowestAccessNs, System.nanoTime() - startNs);
        if (outcome == TortureActor.Outcome.FULL) {
          violations.add("a store that is not full refused a put for want of space");
        }
      }
    }
  }

  private void readAllKeys() throws IOException {
    for (int key = 0; key < keys; key++) {
      access(Operation.GET, key);
    }
  }

  /** Of a full store: most is deleted, then there must be room again. */
  private void makeRoom() throws IOException {
    for (int key = HOT_KEYS; key < keys; key++) {
      access(Operation.DELETE, key);
    }
    for (int key = 0; key < HOT_KEYS; key++) {
      if (access(Operation.PUT, key) == TortureActor.Outcome.FULL) {
        violations.add("a put was refused for want of space after everything else was deleted");
      }
      access(Operation.GET, key);
    }
  }

  private TortureActor.Outcome access(Operation operation, int key) throws IOException {
    long endNs = System.nanoTime() + TOO_LONG.toNanos();
    while (true) {
      TortureActor.Outcome outcome =
          bystander.connect() ? bystander.step(operation, key) : TortureActor.Outcome.FAILED;
      if (outcome != TortureActor.Outcome.FAILED) {
        return outcome;
      }
      if (System.nanoTime() - endNs > 0) {
        throw new ProcessException(
            operation
                + " of key "
                + key
                + " does not succeed within "
                + TOO_LONG.toSeconds()
                + " s");
      }
      pause(2_000_000);
    }
  }

  private Client startClient() {
    int number = ++clientNumber;
    Path file = files.resolve("history-" + number);
    Child process =
        children.start(
            "client " + number,
            jvm.command(
                TortureClient.class,
                server.uri(),
                Integer.toString(number),
                Long.toString(random.nextLong()),
                Integer.toString(store.keysMax()),
                Integer.toString(keys),
                file.toString()));
    process.await("ready", TOO_LONG);
    logs.add(file);
    return new Client(number, process);
  }

  private void replace(int index) {
    Client ended = clients.get(index);
    collectComplaints(ended);
    children.forget(ended.process());
    clients.set(index, startClient());
  }

  private void restartEndedClients() {
    for (int i = 0; i < clients.size(); i++) {
      if (!clients.get(i).process().isAlive()) {
        int exitCode = clients.get(i).process().awaitEnd(TOO_LONG);
        if (exitCode != 0) {
          violations.add(
              "client "
                  + clients.get(i).number()
                  + " ended with exit code "
                  + exitCode
                  + clients.get(i).process().errorTail());
        }
        replace(i);
      }
    }
  }

  private void endClients() {
    for (Client client : clients) {
      try {
        client.process().tell("end");
      } catch (ProcessException e) {
        // It has ended already.
      }
    }
    for (Client client : clients) {
      int exitCode = client.process().awaitEnd(TOO_LONG);
      if (exitCode != 0) {
        violations.add(
            "client "
                + client.number()
                + " ended with exit code "
                + exitCode
                + client.process().errorTail());
      }
      collectComplaints(client);
    }
    clients.clear();
  }

  private void collectComplaints(Client client) {
    try {
      for (String line = client.process().poll(Duration.ofMillis(50));
          line != null;
          line = client.process().poll(Duration.ofMillis(50))) {
        if (line.startsWith("wrong: ")) {
          violations.add("client " + client.number() + ": " + line.substring("wrong: ".length()));
        }
      }
    } catch (ProcessException e) {
      // The end of its output.
    }
  }

  private void checkHistory() throws IOException {
    progress.step("check the history");
    bystanderLog.close();
    History history = HistoryLog.merge(logs);
    operations += history.size();
    unknownOutcomes += history.count(Outcome.UNKNOWN);
    marks.forEach(mark -> history.mark(mark.timeNs(), mark.text()));
    LinearizabilityChecker checker =
        new LinearizabilityChecker(key -> "torture-" + key, TortureValue::name);
    switch (checker.check(history)) {
      case Verdict.Linearizable linearizable -> {}
      case Verdict.Violation violation ->
          violations.add("not linearizable:\n" + violation.report());
      case Verdict.Undecided undecided ->
          violations.add("the history could not be decided: " + undecided.reason());
    }
    progress.done(history.size() + " operations");
  }

  private void verifyStore() {
    progress.step("verify the store");
    VerifyReport report = StoreVerifier.verify(data);
    report.findings().forEach(finding -> violations.add("verify: " + finding.what()));
    progress.done(report.entries() + " entries");
  }

  private Result result() {
    long accessNsMax = options.accessMsMax() * 1_000_000;
    if (slowestAccessNs > accessNsMax) {
      violations.add(
          "after a client's kill another client waited "
              + slowestAccessNs / 1_000_000
              + " ms for a key, expected at most "
              + options.accessMsMax()
              + " ms");
    }
    if (!violations.isEmpty()) {
      children.keep(data);
    }
    Space space =
        new Space(
            stores,
            sum("cleaner.cleanings"),
            sum("cleaner.bytes.copied"),
            sum("table.doublings"),
            sum("requests.refused.full"));
    requireWork(space);
    return new Result(
        serverKills,
        serverKillsInRecovery,
        killsInCleaning,
        killsInDoubling,
        clientKills,
        stops,
        operations,
        unknownOutcomes,
        slowestAccessNs,
        embedded.openings(),
        embedded.kills(),
        space,
        violations);
  }

  /** Kills that hit nothing of it say nothing of cleaning and doubling. */
  private void requireWork(Space space) {
    if (space.regionsFreed() == 0 || space.doublings() == 0) {
      violations.add("nothing was tested: no region was cleaned or no table doubled, " + space);
    }
    if (serverKills >= KILLS_THAT_MUST_HIT && (killsInCleaning == 0 || killsInDoubling == 0)) {
      violations.add(
          "nothing was tested: of %d kills of the server %d fell inside a cleaning, %d inside a doubling"
              .formatted(serverKills, killsInCleaning, killsInDoubling));
    }
  }

  private long sum(String figure) {
    return sums.getOrDefault(figure, 0L);
  }

  private static void pause(long ns) {
    long endNs = System.nanoTime() + ns;
    for (long leftNs = ns; leftNs > 0; leftNs = endNs - System.nanoTime()) {
      LockSupport.parkNanos(leftNs);
      if (Thread.interrupted()) {
        throw new ProcessException("interrupted");
      }
    }
  }
}
