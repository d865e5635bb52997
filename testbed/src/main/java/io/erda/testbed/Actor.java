package io.erda.testbed;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.server.ErdaServer;
import io.erda.server.ErdaStore;
import io.erda.server.ServerOptions;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * The load on a store in the guest, and the reader of the store of a cut disk on the host. It
 * reports events on standard output for the {@link Ledger}, one line at a time and never before
 * they have happened.
 *
 * <ul>
 *   <li>{@code load URI CLIENT FROM KEYS SEED}: a client of a server, which puts until it is ended.
 *   <li>{@code embedded DIRECTORY PROMISE CLIENT FROM KEYS SEED}: the same with a store in this
 *       process; it ends with standard input.
 *   <li>{@code read DIRECTORY PROMISE OPENER CLIENTS KEYS}: reads every key.
 *   <li>{@code resume URI CLIENTS FROM KEYS SEED}: reads every key as a client of a server, once
 *       that serves; then puts until it is ended, with this many clients.
 * </ul>
 *
 * <p>PROMISE is {@code power} or {@code none}, OPENER is {@code embedded} or {@code server}.
 */
public final class Actor {
  /** Small, so that cleanings and doublings happen within seconds. */
  private static final ServerOptions GEOMETRY =
      ServerOptions.DEFAULTS
          .withHeads(2)
          .withRegionBytes(64 << 10)
          .withSegmentBytes(8 << 10)
          .withCapacityBytes(768 << 10)
          .withBuckets(64);

  /** One in so many operations also requests a cleaning. */
  private static final int CLEANINGS = 25;

  /** The most attempts to connect to a server that opens its store. */
  private static final int CONNECTIONS_MAX = 300;

  private final FileOutputStream out = new FileOutputStream(FileDescriptor.out);

  private Actor() {}

  /** Returns the geometry as options of {@code erda server}. */
  static String geometryFlags() {
    return "--heads 2 --region-bytes 64K --segment-bytes 8K --capacity 768K --buckets 64";
  }

  /** See the class comment. */
  public static void main(String[] args) {
    Actor actor = new Actor();
    actor.run(() -> actor.act(args));
    System.exit(0);
  }

  private void act(String[] args) {
    switch (args[0]) {
      case "load" -> load(args);
      case "resume" -> resume(args);
      case "embedded" -> embedded(args);
      case "read" -> read(args);
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  /** Runs an action; an exception ends the process. */
  private void run(Runnable action) {
    try {
      action.run();
    } catch (ErdaException e) {
      say("F " + e.getMessage());
      System.exit(1);
    } catch (RuntimeException e) {
      say("X " + e);
      e.printStackTrace();
      System.exit(1);
    }
  }

  private void load(String[] args) {
    load(args[1], new Load(args, 2));
  }

  private void load(String uri, Load load) {
    while (true) {
      try (ErdaClient client = ErdaClient.connect(uri)) {
        load.run(client, Long.MAX_VALUE);
      } catch (ErdaException.Unavailable | ErdaException.Refused e) {
        LockSupport.parkNanos(50_000_000);
      }
    }
  }

  private void embedded(String[] args) {
    Load load = new Load(args, 3);
    say("O");
    try (ErdaStore store = ErdaStore.open(Path.of(args[1]), options(args[2]))) {
      say("S " + store.promise());
      notes(store.notes());
      try (ErdaClient client = store.client()) {
        while (System.in.available() == 0) {
          load.run(client, 20);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    say("E");
  }

  private void read(String[] args) {
    Path data = Path.of(args[1]);
    int clients = Integer.parseInt(args[4]);
    int keys = Integer.parseInt(args[5]);
    if (args[3].equals("server")) {
      try (ErdaServer server = ErdaServer.start(data, options(args[2]))) {
        notes(server.notes());
        try (ErdaClient client = ErdaClient.connect(server.uri())) {
          read(client, clients, keys);
        }
      }
    } else {
      try (ErdaStore store = ErdaStore.open(data, options(args[2]));
          ErdaClient client = store.client()) {
        notes(store.notes());
        read(client, clients, keys);
      }
    }
    say("E");
  }

  private void resume(String[] args) {
    int clients = Integer.parseInt(args[2]);
    try (ErdaClient client = connect(args[1])) {
      read(client, clients, Integer.parseInt(args[4]));
      say("E");
    }
    for (int client = 2; client <= clients; client++) {
      Load load = new Load(client, args);
      new Thread(() -> run(() -> load(args[1], load)), "load-" + client).start();
    }
    load(args[1], new Load(1, args));
  }

  private static ErdaClient connect(String uri) {
    for (int tries = 1; ; tries++) {
      try {
        return ErdaClient.connect(uri);
      } catch (ErdaException.Unavailable | ErdaException.Refused e) {
        if (tries == CONNECTIONS_MAX) {
          throw e;
        }
        LockSupport.parkNanos(200_000_000);
      }
    }
  }

  private void read(ErdaClient client, int clients, int keys) {
    for (int c = 1; c <= clients; c++) {
      for (int i = 0; i < keys; i++) {
        int number = Value.number(c, i);
        try {
          byte[] value = client.get(Value.key(number));
          if (value != null) {
            say("R " + number + " " + Value.versionOf(number, value));
          }
        } catch (ErdaException.Damaged e) {
          say("D " + number + " " + e.getMessage());
        }
      }
    }
  }

  private static ServerOptions options(String promise) {
    return promise.equals("power") ? GEOMETRY.withPromise(Promise.POWER) : GEOMETRY;
  }

  private void notes(List<String> notes) {
    notes.forEach(note -> say("N " + note));
  }

  /** Prints a line in a single write call, so that lines of several processes don't mix. */
  private void say(String line) {
    try {
      out.write(("@ " + line.replace('\n', ' ') + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Puts and sometimes deletes keys that only this client uses, with increasing versions. */
  private final class Load {
    private final int client;
    private final int keys;
    private final Random random;
    private long version;
    private Promise said;
    private ErdaClient connected;

    private Load(String[] args, int at) {
      this(Integer.parseInt(args[at]), args, at + 1);
    }

    /** Makes one of several clients, which share the other arguments. */
    private Load(int client, String[] args) {
      this(client, args, 3);
    }

    private Load(int client, String[] args, int at) {
      this.client = client;
      version = Long.parseLong(args[at]);
      keys = Integer.parseInt(args[at + 1]);
      random = new Random(Long.parseLong(args[at + 2]) + client);
    }

    private void run(ErdaClient erda, long operations) {
      if (connected != erda || said != erda.promise()) {
        connected = erda;
        said = erda.promise();
        say("P " + client + " " + said);
      }
      for (long i = 0; i < operations; i++) {
        step(erda);
      }
    }

    /**
     * Requests a cleaning: emulation is slow, and a store that is only cleaned when it is full is
     * rarely cleaned.
     */
    private void clean(ErdaClient erda) {
      try {
        erda.clean(random.nextInt(GEOMETRY.heads()));
      } catch (ErdaException.Full | ErdaException.OutcomeUnknown e) {
        // The store cleans itself when it must.
      }
    }

    private void step(ErdaClient erda) {
      if (random.nextInt(CLEANINGS) == 0) {
        clean(erda);
      }
      int number = Value.number(client, random.nextInt(keys));
      version++;
      try {
        if (Value.isDeletedAtTimes(number) && random.nextInt(3) == 0) {
          erda.delete(Value.key(number));
        } else {
          erda.put(Value.key(number), Value.of(number, version));
        }
        say("A " + client + " " + number + " " + version);
      } catch (ErdaException.Full | ErdaException.OutcomeUnknown e) {
        LockSupport.parkNanos(
            20_000_000); // The operation is not acknowledged, so it is not reported.
      } catch (ErdaException.Damaged e) {
        say("D " + number + " " + e.getMessage());
      }
    }
  }
}
