package io.erda.launcher.torture;

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
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Real processes under real signals: a server and clients on a few shared keys. The server is
 * killed, at least a fifth of the times while it recovers; clients are killed; a writer is stopped,
 * the server killed and restarted, the writer continued. At the end the complete history must be
 * linearizable, which says that every acknowledged value held, and the store must verify.
 *
 * <p>The seed decides what is done when; what the kernel makes of it is never twice the same.
 */
public final class Torture {
  private static final int KEYS = 6;
  private static final int BYSTANDER = 1;
  private static final Duration TOO_LONG = Duration.ofSeconds(30);
  private static final long BURST_SPREAD_NS = 6_000_000;

  private static final List<String> STORE =
      List.of(
          "--region-bytes",
          "16M",
          "--segment-bytes",
          "256K",
          "--capacity",
          "8G",
          "--buckets",
          "1024");

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
   * @param violations empty when all is well; for people
   */
  public record Result(
      int serverKills,
      int serverKillsInRecovery,
      int clientKills,
      int stopsAcrossRestart,
      int operations,
      int unknownOutcomes,
      long slowestAccessNs,
      List<String> violations) {
    public Result {
      violations = List.copyOf(violations);
    }
  }

  private record Client(int number, Child process) {}

  private record Mark(long timeNs, String text) {}

  private final Children children;
  private final Jvm jvm;
  private final Options options;
  private final Progress progress;
  private final SplittableRandom random;
  private final List<Client> clients = new ArrayList<>();
  private final List<String> violations = new ArrayList<>();
  private final List<Path> logs = new ArrayList<>();
  private final List<Mark> marks = new ArrayList<>();
  private History history;
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
  }

  /** Runs it. Processes and files are gone when {@code children} is closed. */
  public Result run() throws IOException {
    data = children.temporaryDirectory(options.temporaryDirectory(), "erda-torture-");
    Path files = children.temporaryDirectory(options.temporaryDirectory(), "erda-torture-history-");
    progress.step("torture, seed " + options.seed());
    server = ServerChild.start(children, jvm, data, STORE);
    Path bystanderFile = files.resolve("history-" + BYSTANDER);
    bystanderLog = HistoryLog.create(bystanderFile, BYSTANDER, System::nanoTime);
    logs.add(bystanderFile);
    bystander = new TortureActor(server.uri(), BYSTANDER, KEYS, bystanderLog);
    for (int i = 0; i < options.clients(); i++) {
      clients.add(startClient(files));
    }
    long endNs = System.nanoTime() + options.seconds() * 1_000_000_000L;
    while (System.nanoTime() - endNs < 0 || serverKills + clientKills < options.kills()) {
      act(files);
      progress.at(
          serverKills + " server kills, " + clientKills + " client kills, " + stops + " stops");
    }
    endClients();
    readAllKeys();
    bystander.close();
    server.kill();
    progress.done(
        serverKills + " server kills, " + clientKills + " client kills, " + stops + " stops");
    checkHistory();
    verifyStore();
    return result();
  }

  private void mark(String text) {
    marks.add(new Mark(System.nanoTime(), text));
  }

  private void act(Path files) throws IOException {
    pause(random.nextLong(20_000_000, 250_000_000));
    int choice = random.nextInt(100);
    if (choice < 45) {
      killServer();
      restartServer();
    } else if (choice < 80) {
      killClient(files);
    } else {
      stopClientAcrossRestart();
    }
    restartEndedClients(files);
  }

  /** Lets everybody be at work. */
  private void burst() {
    for (Client client : clients) {
      if (client.process().isAlive()) {
        try {
          client.process().tell("burst");
        } catch (ProcessException e) {
          // It ended by itself, which is looked at after this.
        }
      }
    }
    pause(random.nextLong(BURST_SPREAD_NS));
  }

  private void killServer() {
    burst();
    server.kill();
    serverKills++;
    mark("server killed");
  }

  /**
   * Starts the server again; kills it in its recovery, once or several times, when it is the turn
   * of that.
   */
  private void restartServer() {
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
  }

  private void killClient(Path files) throws IOException {
    int index = random.nextInt(clients.size());
    burst();
    Client client = clients.get(index);
    client.process().kill();
    clientKills++;
    mark("client " + client.number() + " killed");
    accessAllKeys();
    replace(index, files);
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
    for (int key = 0; key < KEYS; key++) {
      long startNs = System.nanoTime();
      access(Operation.GET, key);
      access(Operation.PUT, key);
      slowestAccessNs = Math.max(slowestAccessNs, System.nanoTime() - startNs);
    }
  }

  private void readAllKeys() throws IOException {
    for (int key = 0; key < KEYS; key++) {
      access(Operation.GET, key);
    }
  }

  private void access(Operation operation, int key) throws IOException {
    long endNs = System.nanoTime() + TOO_LONG.toNanos();
    while (!bystander.connect() || !bystander.step(operation, key)) {
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

  private Client startClient(Path files) {
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
                Integer.toString(KEYS),
                file.toString()));
    process.await("ready", TOO_LONG);
    logs.add(file);
    return new Client(number, process);
  }

  private void replace(int index, Path files) {
    Client ended = clients.get(index);
    collectComplaints(ended);
    children.forget(ended.process());
    clients.set(index, startClient(files));
  }

  private void restartEndedClients(Path files) {
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
        replace(i, files);
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
    history = HistoryLog.merge(logs);
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
    return new Result(
        serverKills,
        serverKillsInRecovery,
        clientKills,
        stops,
        history.size(),
        history.count(Outcome.UNKNOWN),
        slowestAccessNs,
        violations);
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
