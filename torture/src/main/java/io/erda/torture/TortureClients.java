package io.erda.torture;

import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ProcessException;
import io.erda.simulation.history.HistoryLog;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * The client processes of a store: a fixed number at a time, the kinds in turn, some of another
 * user. Killed ones are replaced.
 */
final class TortureClients {
  private static final Duration TOO_LONG = Duration.ofSeconds(30);

  /** One in so many processes is another user's. */
  private static final int OTHER_USER_ODDS = 3;

  /** Number of kills of clients after which every kind must have been hit. */
  private static final int KILLS_THAT_MUST_MEET = 50;

  /** The most complaints of one process that are shown. */
  private static final int COMPLAINTS_MAX = 10;

  /**
   * The store and the files of client processes.
   *
   * @param files directory of the histories
   * @param otherFiles the same for processes of the other user; null when there are none
   */
  record Place(String uri, int keysMax, Path files, Path otherFiles) {}

  /**
   * A client process.
   *
   * @param number of its first client
   */
  record Client(
      int number, ClientKind kind, boolean ofOtherUser, Child process, List<Path> histories) {
    @Override
    public String toString() {
      return "client " + number + " (" + kind + (ofOtherUser ? ", another user's" : "") + ")";
    }
  }

  private final Children children;
  private final Jvm jvm;
  private final SplittableRandom random;
  private final OtherUser otherUser;
  private final Consumer<String> violations;
  private final List<Client> now = new ArrayList<>();
  private final List<Client> ofStore = new ArrayList<>();
  private final int[] kills = new int[ClientKind.values().length];
  private final long[] operations = new long[ClientKind.values().length];
  private int otherUserKills;
  private long otherUserOperations;
  private final long[] tallies = new long[Tally.values().length];
  private List<ClientKind> kinds = List.of();
  private Place place;
  private int numbers;
  private int starts;

  /**
   * @param violations receives each violation
   */
  TortureClients(
      Children children,
      Jvm jvm,
      SplittableRandom random,
      OtherUser otherUser,
      Consumer<String> violations) {
    this.children = children;
    this.jvm = jvm;
    this.random = random;
    this.otherUser = otherUser;
    this.violations = violations;
  }

  /** Takes this many new client numbers. Returns the first. */
  int takeNumbers(int count) {
    int first = numbers + 1;
    numbers += count;
    return first;
  }

  /** Starts clients of a store. */
  void begin(Place next, int count, int keys) {
    place = next;
    kinds = ClientKind.over(next.uri());
    ofStore.clear();
    for (int i = 0; i < count; i++) {
      now.add(start(keys));
    }
  }

  /** Ends all clients in order. */
  void end() {
    for (Client client : now) {
      try {
        client.process().tell("end");
      } catch (ProcessException e) {
        // It has ended already.
      }
    }
    for (Client client : now) {
      requireEnded(client);
      collectWords(client);
      children.forget(client.process());
    }
    now.clear();
  }

  /** A random client. */
  Client any() {
    return now.get(random.nextInt(now.size()));
  }

  void tell(String what) {
    for (Client client : now) {
      if (client.process().isAlive()) {
        try {
          client.process().tell(what);
        } catch (ProcessException e) {
          // It ended by itself, which is checked afterwards.
        }
      }
    }
  }

  void kill(Client client) {
    client.process().kill();
    kills[client.kind().ordinal()]++;
    otherUserKills += client.ofOtherUser() ? 1 : 0;
  }

  int kills() {
    int sum = 0;
    for (int each : kills) {
      sum += each;
    }
    return sum;
  }

  /** Replaces a client that was killed. */
  void replace(Client killed, int keys) {
    collectWords(killed);
    children.forget(killed.process());
    now.set(now.indexOf(killed), start(keys));
  }

  /** Replaces clients that ended by themselves, which is a violation. */
  void replaceEnded(int keys) {
    for (Client client : List.copyOf(now)) {
      if (!client.process().isAlive()) {
        requireEnded(client);
        replace(client, keys);
      }
    }
  }

  void signal(String signal, Client client) {
    Child kill =
        children.start("kill", List.of("kill", signal, Long.toString(client.process().pid())));
    int exitCode = kill.awaitEnd(TOO_LONG);
    if (exitCode != 0) {
      throw new ProcessException(
          "kill " + signal + " ended with exit code " + exitCode + kill.errorTail());
    }
    children.forget(kill);
  }

  /** Returns the histories of all clients that this store has had. */
  List<Path> histories() {
    return ofStore.stream().flatMap(client -> client.histories().stream()).toList();
  }

  /** Counts the operations of this store's clients. */
  void countOperations() throws IOException {
    for (Client client : ofStore) {
      int count = HistoryLog.merge(client.histories()).size();
      operations[client.kind().ordinal()] += count;
      otherUserOperations += client.ofOtherUser() ? count : 0;
    }
  }

  /** The results; a violation when a kind was never hit. */
  TortureResult.Clients result() {
    if (kills() >= KILLS_THAT_MUST_MEET) {
      for (ClientKind kind : kinds) {
        requireMet(kind.toString(), kills[kind.ordinal()], operations[kind.ordinal()]);
      }
      if (otherUser.exists()) {
        requireMet("another user's", otherUserKills, otherUserOperations);
      }
      for (Tally tally : Tally.values()) {
        if (tallies[tally.ordinal()] == 0) {
          violations.accept("nothing was tested: clients say that they did no " + tally);
        }
      }
    }
    return new TortureResult.Clients(
        kills(),
        kills[ClientKind.PIPELINED.ordinal()],
        kills[ClientKind.SHARED.ordinal()],
        kills[ClientKind.READER.ordinal()],
        otherUserKills,
        operations[ClientKind.PIPELINED.ordinal()],
        operations[ClientKind.SHARED.ordinal()],
        operations[ClientKind.READER.ordinal()],
        otherUserOperations,
        tallies[Tally.SEVERAL.ordinal()],
        tallies[Tally.ITERATIONS.ordinal()],
        otherUser.leftOut());
  }

  private void requireMet(String which, int killed, long done) {
    if (killed == 0 || done == 0) {
      violations.accept(
          "nothing was tested: of %d kills of clients %d met one of the kind %s, which did %d operations"
              .formatted(kills(), killed, which, done));
    }
  }

  private Client start(int keys) {
    ClientKind kind = kinds.get(starts++ % kinds.size());
    boolean other = random.nextInt(OTHER_USER_ODDS) == 0 && otherUser.exists();
    int number = takeNumbers(kind.logs());
    Path files = other ? place.otherFiles() : place.files();
    List<String> command =
        jvm.command(
            TortureClient.class,
            place.uri(),
            kind.name(),
            Integer.toString(number),
            Long.toString(random.nextLong()),
            Integer.toString(place.keysMax()),
            Integer.toString(keys),
            files.toString());
    Child process =
        children.start("client " + number, other ? otherUser.command(command) : command);
    process.await("ready", TOO_LONG);
    List<Path> histories = new ArrayList<>();
    for (int i = 0; i < kind.logs(); i++) {
      histories.add(ClientLog.file(files, number + i));
    }
    Client client = new Client(number, kind, other, process, histories);
    ofStore.add(client);
    return client;
  }

  private void requireEnded(Client client) {
    int exitCode = client.process().awaitEnd(TOO_LONG);
    if (exitCode != 0) {
      violations.accept(
          client
              + (exitCode < 0
                  ? " does not end within " + TOO_LONG.toSeconds() + " s"
                  : " ended with exit code " + exitCode + client.process().errorTail()));
    }
  }

  /** Collects the lines of a process: its reports, and complaints. */
  private void collectWords(Client client) {
    int complaints = 0;
    try {
      for (String line = client.process().poll(Duration.ofMillis(50));
          line != null;
          line = client.process().poll(Duration.ofMillis(50))) {
        Tally tally = Tally.in(line);
        if (tally != null) {
          tallies[tally.ordinal()]++;
        }
        String complaint = Complaint.in(line);
        if (complaint != null && ++complaints <= COMPLAINTS_MAX) {
          violations.accept(client + ": " + complaint);
        }
      }
    } catch (ProcessException e) {
      // The end of its output.
    }
    if (complaints > COMPLAINTS_MAX) {
      violations.accept(client + ": " + (complaints - COMPLAINTS_MAX) + " further complaints");
    }
  }
}
