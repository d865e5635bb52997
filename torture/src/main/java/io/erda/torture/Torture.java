package io.erda.torture;

import io.erda.cleaner.Phase;
import io.erda.console.Progress;
import io.erda.eval.process.Children;
import io.erda.eval.process.DeviceChoice;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ProcessException;
import io.erda.eval.process.ServerChild;
import io.erda.protocol.PutMode;
import io.erda.server.Committers;
import io.erda.server.StoreVerifier;
import io.erda.server.VerifyReport;
import io.erda.simulation.history.Ending;
import io.erda.simulation.history.History;
import io.erda.simulation.history.HistoryLog;
import io.erda.simulation.history.LinearizabilityChecker;
import io.erda.simulation.history.OperationKind;
import io.erda.simulation.history.Verdict;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
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
 * of the times during recovery; clients are killed; a writer is stopped, the server killed and
 * restarted, the writer continued. Clients are of several {@link ClientKind}s, and also run as
 * another user if this one is root. At the end the complete history must be linearizable, which
 * implies that every acknowledged value was kept and refused operations had no effect, and the
 * store must verify.
 *
 * <p>Stores take turns. Each begins with a tiny table and gets more and more keys, so that the
 * table doubles, and is so small that its log is cleaned all the time; one is too small for its
 * keys, so that it runs full. Some kills wait for a cleaning or a doubling to be under way.
 *
 * <p>The seed decides what is done when, but scheduling makes each run different.
 */
public final class Torture {
  /** Keys that every client uses all the time. */
  static final int HOT_KEYS = 6;

  private static final long BURST_SPREAD_NS = 6_000_000;

  /** How long a kill waits for its target. */
  private static final long AIM_NS_MAX = 150_000_000;

  /**
   * Number of kills of servers after which some must have hit a cleaning and a doubling. One in
   * about sixty hits a doubling, which is short; about one in a hundred runs with so many kills
   * hits none.
   */
  private static final int KILLS_THAT_MUST_HIT = 280;

  private static final int ACTIONS_A_STORE = 25;

  /** Before one in so many starts of a server another process opens the store for itself. */
  private static final int EMBEDDED_ODDS = 3;

  /** Where clients may commit, one server in so many does not let them. */
  private static final int OWN_COMMITS_OF = 5;

  private static final int STOPS_A_BURST_MAX = 100;

  /** Twice as long as a server waits for a commit. */
  private static final long STOP_NS_MAX = 20_000_000;

  private record Mark(long timeNs, String text) {}

  private final Children children;
  private final Jvm jvm;
  private final TortureOptions options;
  private final Progress progress;
  private final SplittableRandom random;
  private final EmbeddedOpenings embedded;
  private final OtherUser otherUser;
  private final TortureClients clients;
  private final List<String> violations = new ArrayList<>();
  private final List<Path> logs = new ArrayList<>();
  private final List<Mark> marks = new ArrayList<>();
  private final Map<String, Long> sums = new HashMap<>();
  private StoreShape store;
  private Path files;
  private int keys;
  private int stores;
  private int operations;
  private int unknownOutcomes;
  private long conditionsHeld;
  private long conditionsMissed;
  private int killsInCleaning;
  private int killsInDoubling;
  private Map<String, Long> figures = Map.of();
  private Path data;
  private ServerChild server;

  /** The proxy between clients and the server of a store; null when they connect directly. */
  private FaultyWire wire;

  private TortureResult.Wire wireSums = new TortureResult.Wire(0, 0, 0);

  /** The server's options for its transport; the same for all servers of a store. */
  private List<String> reached = List.of();

  private Bystander bystander;
  private int serverKills;
  private int serverKillsInRecovery;
  private int stops;
  private int burstStops;
  private long recoveryNs = 50_000_000;
  private long slowestAccessNs;

  public Torture(Children children, Jvm jvm, TortureOptions options, Progress progress) {
    this.children = children;
    this.jvm = jvm.with("-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx512m");
    this.options = options;
    this.progress = progress;
    this.random = new SplittableRandom(options.seed());
    this.embedded = new EmbeddedOpenings(children, this.jvm, random.split());
    this.otherUser = OtherUser.find(children, this.jvm, options.temporaryDirectory());
    this.clients =
        new TortureClients(children, this.jvm, random.split(), otherUser, violations::add);
  }

  /** Runs the torture. Closing {@code children} ends all processes and removes all files. */
  public TortureResult run() throws IOException {
    if (!otherUser.exists()) {
      progress.step("clients of another user");
      progress.done("left out: " + otherUser.leftOut());
    }
    progress.step("torture, seed " + options.seed());
    long endNs = System.nanoTime() + options.seconds() * 1_000_000_000L;
    do {
      begin(StoreShape.ALL.get(stores++ % StoreShape.ALL.size()));
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
    return System.nanoTime() - endNs >= 0 && serverKills + clients.kills() >= options.kills();
  }

  private String counts() {
    return "%d stores, %d server kills, %d client kills, %d stops"
        .formatted(stores, serverKills, clients.kills(), stops);
  }

  private void begin(StoreShape next) throws IOException {
    store = next;
    keys = HOT_KEYS;
    data = children.temporaryDirectory(options.temporaryDirectory(), "erda-torture-");
    files = children.temporaryDirectory(options.temporaryDirectory(), "erda-torture-history-");
    Path otherFiles = otherUser.exists() ? otherUser.directory(files) : null;
    logs.clear();
    marks.clear();
    reached = options.transport().serverOptions();
    List<String> creation = new ArrayList<>(store.options());
    creation.addAll(reached);
    if (options.putMode() == PutMode.ANNOUNCE) {
      creation.addAll(List.of("--put", "announce"));
    }
    creation.addAll(otherUser.serverOptions(random.nextBoolean()));
    creation.addAll(committers());
    server = ServerChild.start(children, jvm, data, creation);
    int number = clients.takeNumbers(1);
    bystander = new Bystander(server.uri(), files, number, store, violations::add);
    logs.add(ClientLog.file(files, number));
    clients.begin(
        new TortureClients.Place(clientUri(), store.keysMax(), files, otherFiles),
        options.clients(),
        keys);
  }

  /** The URI for clients: for every other store over TCP through a faulty proxy. */
  private String clientUri() throws IOException {
    if (options.transport() != DeviceChoice.TCP || !options.faultyWire() || stores % 2 == 0) {
      return server.uri();
    }
    URI uri = URI.create(server.uri());
    SplittableRandom seeds = random.split();
    wire =
        new FaultyWire(
            new InetSocketAddress(uri.getHost(), uri.getPort()),
            connection -> new RandomFaults(seeds.split()));
    return server.uri().replace(uri.getAuthority(), wire.address());
  }

  private void endWire() {
    if (wire != null) {
      wireSums = wire.counts().addTo(wireSums);
      wire.close();
      wire = null;
    }
  }

  private void end() throws IOException {
    clients.end();
    endWire();
    bystander.readKeys(keys);
    if (store.fills()) {
      bystander.makeRoom(keys);
    }
    keepFigures();
    sumFigures();
    slowestAccessNs = Math.max(slowestAccessNs, bystander.slowestAccessNs());
    bystander.close();
    server.kill();
    logs.addAll(clients.histories());
    clients.countOperations();
    checkHistory();
    verifyStore();
  }

  private void mark(String text) {
    marks.add(new Mark(System.nanoTime(), text));
  }

  private void act() {
    addKeys();
    clients.tell("burst");
    pause(random.nextLong(20_000_000, 250_000_000));
    int choice = random.nextInt(100);
    if (choice < 45) {
      killServer();
      restartServer();
    } else if (choice < 80) {
      killClient();
    } else if (choice < 92 && options.commits() == Committers.OWN) {
      stopClientInBursts();
    } else {
      stopClientAcrossRestart();
    }
    clients.replaceEnded(keys);
  }

  /**
   * Adds half as many keys each time, so that doublings of small and of large tables are equally
   * frequent.
   */
  private void addKeys() {
    keys = Math.min(store.keysMax(), keys + keys / 2);
    clients.tell("keys " + keys);
  }

  /** Makes all clients work at full speed. */
  private void burst() {
    clients.tell("burst");
    pause(random.nextLong(BURST_SPREAD_NS));
  }

  private void keepFigures() {
    Map<String, Long> now = bystander.figures();
    figures = now == null ? figures : now;
  }

  /** Adds the figures of a server that is about to end. */
  private void sumFigures() {
    figures.forEach((name, value) -> sums.merge(name, value, Long::sum));
    figures = Map.of();
  }

  /** Waits until the server is in a given state, for a limited time. */
  private void aim(Predicate<Map<String, Long>> at) {
    long endNs = System.nanoTime() + AIM_NS_MAX;
    do {
      keepFigures();
    } while (!at.test(figures) && System.nanoTime() - endNs < 0);
  }

  /** Puts the keys that are missing for a doubling of the table. */
  private void aimAtDoubling() {
    aim(known -> known.getOrDefault("table.entries", -1L) >= 0);
    long missing =
        1
            + figures.getOrDefault("table.buckets", 0L) / 2
            - figures.getOrDefault("table.entries", 0L);
    for (; missing > 0 && keys < store.keysMax(); missing--) {
      bystander.access(OperationKind.PUT, keys++);
    }
    aim(Torture::moves);
  }

  /** Deletes enough keys for a halving of the table, if it is larger than at the beginning. */
  private void aimAtHalving() {
    aim(known -> known.getOrDefault("table.entries", -1L) >= 0);
    int left = (int) Math.max(HOT_KEYS, figures.getOrDefault("table.buckets", 0L) / 32);
    if (left < keys) {
      clients.tell("keys " + left);
      while (keys > left) {
        bystander.access(OperationKind.DELETE, --keys);
      }
    }
    aim(Torture::halves);
  }

  private static boolean halves(Map<String, Long> figures) {
    return figures.getOrDefault("table.halving", 0L) != 0
        && figures.getOrDefault("table.doubling.percent", 100L) < 100;
  }

  private static boolean copies(Map<String, Long> figures) {
    return figures.getOrDefault("cleaner.phase", 0L) >= Phase.MERGE.ordinal();
  }

  private static boolean moves(Map<String, Long> figures) {
    return figures.getOrDefault("table.doubling", 0L) != 0
        && figures.getOrDefault("table.doubling.percent", 100L) < 100;
  }

  private void killServer() {
    burst();
    switch (random.nextInt(5)) {
      case 0 -> {
        bystander.clean();
        aim(Torture::copies);
      }
      case 1 -> aim(Torture::copies);
      case 2 -> aimAtDoubling();
      case 3 -> aimAtHalving();
      default -> keepFigures();
    }
    server.kill();
    serverKills++;
    mark("server killed");
    sumFigures();
  }

  /** Starts the server again; sometimes kills it during its recovery, once or several times. */
  private void restartServer() {
    if (random.nextInt(EMBEDDED_ODDS) == 0) {
      openEmbedded();
    }
    while (serverKillsInRecovery * 4 < serverKills || random.nextInt(4) == 0) {
      spawnServer();
      pause(random.nextLong(recoveryNs));
      server.kill();
      serverKills++;
      boolean served = server.serves(Duration.ofMillis(200));
      serverKillsInRecovery += served ? 0 : 1;
      mark(served ? "server killed" : "server killed in recovery");
    }
    spawnServer();
    long openingNs = System.nanoTime();
    server.awaitServing();
    recoveryNs = (3 * recoveryNs + System.nanoTime() - openingNs) / 4;
    mark("server serves");
    keepFigures();
    killsInCleaning += (int) (long) figures.getOrDefault("recovery.cleaning", 0L);
    killsInDoubling += (int) (long) figures.getOrDefault("recovery.doubling", 0L);
  }

  private void spawnServer() {
    List<String> serverOptions = new ArrayList<>(reached);
    serverOptions.addAll(committers());
    server = ServerChild.spawn(children, jvm, data, serverOptions);
    server.awaitOpening();
  }

  /**
   * Returns the option of the next server that says who commits. It is drawn for each server, so
   * servers whose clients commit and servers that commit themselves follow each other.
   */
  private List<String> committers() {
    boolean own = options.commits() == Committers.OWN && random.nextInt(OWN_COMMITS_OF) != 0;
    return own ? List.of("--commits", "own") : List.of();
  }

  /** Lets another process open the store for itself, while the server's clients live on. */
  private void openEmbedded() {
    int firstClient = clients.takeNumbers(embedded.clientsMax());
    EmbeddedOpenings.Opening opening =
        embedded.open(data, files, firstClient, store.keysMax(), keys);
    mark(opening.killed() ? "embedded store killed" : "embedded store closed");
    logs.addAll(opening.histories());
    violations.addAll(opening.complaints());
  }

  private void killClient() {
    TortureClients.Client client = clients.any();
    burst();
    clients.kill(client);
    mark(client + " killed");
    bystander.accessHotKeys();
    clients.replace(client, keys);
  }

  /**
   * Stops a client for longer than a server waits for a commit, again and again, so that some stops
   * fall within one.
   */
  private void stopClientInBursts() {
    TortureClients.Client client = clients.any();
    for (int i = random.nextInt(1, STOPS_A_BURST_MAX); i > 0; i--) {
      clients.tell("burst");
      clients.signal("-STOP", client);
      burstStops++;
      pause(random.nextLong(STOP_NS_MAX));
      clients.signal("-CONT", client);
      pause(random.nextLong(BURST_SPREAD_NS));
    }
    mark(client + " was stopped in bursts");
  }

  private void stopClientAcrossRestart() {
    TortureClients.Client client = clients.any();
    burst();
    clients.signal("-STOP", client);
    mark(client + " stopped");
    stops++;
    pause(random.nextLong(10_000_000));
    killServer();
    restartServer();
    pause(random.nextLong(300_000_000));
    bystander.accessHotKeys();
    clients.signal("-CONT", client);
    mark(client + " continues");
    pause(random.nextLong(100_000_000));
  }

  private void checkHistory() throws IOException {
    progress.step("check the history");
    History history = HistoryLog.merge(logs);
    operations += history.size();
    conditionsHeld += history.countConditions(true);
    conditionsMissed += history.countConditions(false);
    unknownOutcomes += history.count(Ending.UNKNOWN);
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

  private TortureResult result() {
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
    TortureResult.Space space =
        new TortureResult.Space(
            stores,
            sum("cleaner.cleanings"),
            sum("cleaner.bytes.copied"),
            sum("table.doublings"),
            sum("requests.refused.full"));
    requireWork(space);
    requireFaults();
    return new TortureResult(
        new TortureResult.Servers(
            serverKills, serverKillsInRecovery, killsInCleaning, killsInDoubling, stops),
        clients.result(),
        new TortureResult.Commits(burstStops, sum("puts.shared"), sum("committers.defeated")),
        new TortureResult.Embedded(embedded.openings(), embedded.kills()),
        operations,
        unknownOutcomes,
        new TortureResult.Conditions(conditionsHeld, conditionsMissed),
        slowestAccessNs,
        space,
        wireSums,
        violations);
  }

  /** Requires that kills hit cleanings and doublings, which otherwise were not tested. */
  private void requireWork(TortureResult.Space space) {
    if (space.regionsFreed() == 0 || space.doublings() == 0) {
      violations.add("nothing was tested: no region was cleaned or no table doubled, " + space);
    }
    if (conditionsHeld == 0 || conditionsMissed == 0) {
      violations.add(
          "nothing was tested: %d conditions held and %d did not"
              .formatted(conditionsHeld, conditionsMissed));
    }
    if (options.commits() == Committers.OWN && sum("puts.shared") == 0) {
      violations.add("nothing was tested: no client committed an update");
    }
    if (serverKills >= KILLS_THAT_MUST_HIT && (killsInCleaning == 0 || killsInDoubling == 0)) {
      violations.add(
          "nothing was tested: of %d kills of the server %d fell inside a cleaning, %d inside a doubling"
              .formatted(serverKills, killsInCleaning, killsInDoubling));
    }
  }

  private void requireFaults() {
    if (serverKills >= KILLS_THAT_MUST_HIT
        && options.transport() == DeviceChoice.TCP
        && options.faultyWire()
        && (wireSums.flips() == 0 || wireSums.cuts() == 0 || wireSums.stalls() == 0)) {
      violations.add("nothing was tested: on the way over TCP happened " + wireSums);
    }
  }

  private long sum(String figure) {
    return sums.getOrDefault(figure, 0L);
  }

  static void pause(long ns) {
    long endNs = System.nanoTime() + ns;
    for (long leftNs = ns; leftNs > 0; leftNs = endNs - System.nanoTime()) {
      LockSupport.parkNanos(leftNs);
      if (Thread.interrupted()) {
        throw new ProcessException("interrupted");
      }
    }
  }
}
