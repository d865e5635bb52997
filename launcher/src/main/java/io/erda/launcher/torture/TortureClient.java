package io.erda.launcher.torture;

import io.erda.simulation.history.HistoryLog;
import io.erda.simulation.history.Operation;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * A client process of the torture. Arguments: URI, client number, seed, keys at most, keys to begin
 * with, history file. It works at an easy pace until its standard input ends or says {@code end};
 * {@code burst} makes it work as fast as it can for a moment, so that a kill finds it at work;
 * {@code keys N} lets it use N keys from then on.
 *
 * <p>Some keys are hot, as many clients as there are meet at them; of the others the newest get
 * most, so that the table grows.
 */
public final class TortureClient {
  private static final long PAUSE_NS = 700_000;
  private static final long BURST_NS = 150_000_000;
  private static final long RETRY_NS = 5_000_000;

  /** Of the keys: those that count as new. */
  private static final int NEWEST_SHARE = 4;

  private volatile long burstUntilNs = System.nanoTime();
  private volatile boolean ending;
  private volatile int keys;

  public static void main(String[] arguments) throws IOException {
    new TortureClient()
        .run(
            arguments[0],
            Integer.parseInt(arguments[1]),
            new SplittableRandom(Long.parseLong(arguments[2])),
            Integer.parseInt(arguments[3]),
            Integer.parseInt(arguments[4]),
            Path.of(arguments[5]));
    System.exit(0);
  }

  private void run(
      String uri, int client, SplittableRandom random, int keysMax, int keysFirst, Path file)
      throws IOException {
    keys = keysFirst;
    listen();
    try (HistoryLog history = HistoryLog.create(file, client, System::nanoTime);
        TortureActor actor = new TortureActor(uri, client, keysMax, history)) {
      System.out.println("ready");
      while (!ending) {
        step(actor, random);
      }
    }
  }

  private void step(TortureActor actor, SplittableRandom random) throws IOException {
    TortureActor.Outcome outcome =
        actor.connect()
            ? actor.step(operation(random), key(random, keys))
            : TortureActor.Outcome.FAILED;
    switch (outcome) {
      case FAILED -> LockSupport.parkNanos(RETRY_NS);
      case DONE, FULL -> {
        if (System.nanoTime() - burstUntilNs > 0) {
          LockSupport.parkNanos(random.nextLong(2 * PAUSE_NS));
        }
      }
    }
  }

  static Operation operation(SplittableRandom random) {
    int choice = random.nextInt(100);
    return choice < 40 ? Operation.GET : choice < 92 ? Operation.PUT : Operation.DELETE;
  }

  /** One of the keys that are in use now. */
  static int key(SplittableRandom random, int now) {
    int choice = random.nextInt(100);
    if (now == Torture.HOT_KEYS || choice < 25) {
      return random.nextInt(Torture.HOT_KEYS);
    }
    return choice < 60
        ? random.nextInt(now)
        : now - 1 - random.nextInt(Math.max(1, now / NEWEST_SHARE));
  }

  private void listen() {
    Thread thread =
        new Thread(
            () -> {
              try (BufferedReader in =
                  new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
                for (String line = in.readLine();
                    line != null && !line.equals("end");
                    line = in.readLine()) {
                  if (line.startsWith("keys ")) {
                    keys = Integer.parseInt(line.substring("keys ".length()));
                  } else {
                    burstUntilNs = System.nanoTime() + BURST_NS;
                  }
                }
              } catch (IOException e) {
                // The other end is gone, as at the end of the input.
              }
              ending = true;
            },
            "standard-input");
    thread.setDaemon(true);
    thread.start();
  }
}
