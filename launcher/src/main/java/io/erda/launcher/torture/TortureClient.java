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
 * A client process of the torture. Arguments: URI, client number, seed, keys, history file. It
 * works at an easy pace until its standard input ends or says {@code end}; {@code burst} makes it
 * work as fast as it can for a moment, so that a kill finds it at work.
 */
public final class TortureClient {
  private static final long PAUSE_NS = 700_000;
  private static final long BURST_NS = 12_000_000;
  private static final long RETRY_NS = 5_000_000;

  private volatile long burstUntilNs = System.nanoTime();
  private volatile boolean ending;

  public static void main(String[] arguments) throws IOException {
    new TortureClient()
        .run(
            arguments[0],
            Integer.parseInt(arguments[1]),
            new SplittableRandom(Long.parseLong(arguments[2])),
            Integer.parseInt(arguments[3]),
            Path.of(arguments[4]));
    System.exit(0);
  }

  private void run(String uri, int client, SplittableRandom random, int keys, Path file)
      throws IOException {
    listen();
    try (HistoryLog history = HistoryLog.create(file, client, System::nanoTime);
        TortureActor actor = new TortureActor(uri, client, keys, history)) {
      System.out.println("ready");
      while (!ending) {
        if (!actor.connect() || !actor.step(operation(random), random.nextInt(keys))) {
          LockSupport.parkNanos(RETRY_NS);
        } else if (System.nanoTime() - burstUntilNs > 0) {
          LockSupport.parkNanos(random.nextLong(2 * PAUSE_NS));
        }
      }
    }
  }

  private static Operation operation(SplittableRandom random) {
    int choice = random.nextInt(100);
    return choice < 45 ? Operation.GET : choice < 90 ? Operation.PUT : Operation.DELETE;
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
                  burstUntilNs = System.nanoTime() + BURST_NS;
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
