package io.erda.torture;

import io.erda.server.ErdaStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A process that opens the store for itself, between two servers, while the clients of the previous
 * server live on. Arguments: data directory, number of its first client, threads, seed, keys at
 * most, keys now, directory of the history files. Each thread has its own client and works at full
 * speed, until standard input has {@code end}, which ends the threads and then closes the store, or
 * {@code close}, which closes the store while they work.
 */
public final class TortureStore {
  private final Watchdog watchdog = new Watchdog();
  private volatile boolean ending;
  private volatile boolean failed;

  public static void main(String[] arguments) throws Exception {
    boolean well =
        new TortureStore()
            .run(
                Path.of(arguments[0]),
                Integer.parseInt(arguments[1]),
                Integer.parseInt(arguments[2]),
                new SplittableRandom(Long.parseLong(arguments[3])),
                Integer.parseInt(arguments[4]),
                Integer.parseInt(arguments[5]),
                Path.of(arguments[6]));
    System.exit(well ? 0 : 1);
  }

  @SuppressWarnings("try") // The store is closed under its clients; closing it again does nothing.
  private boolean run(
      Path data,
      int firstClient,
      int threads,
      SplittableRandom random,
      int keysMax,
      int keys,
      Path files)
      throws IOException, InterruptedException {
    try (ErdaStore store = ErdaStore.open(data)) {
      System.out.println("open");
      List<Thread> working = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int client = firstClient + i;
        SplittableRandom own = random.split();
        Thread thread =
            new Thread(() -> work(store, client, own, keysMax, keys, files), "client-" + client);
        thread.start();
        working.add(thread);
      }
      if ("close".equals(readLine())) {
        store.close();
      }
      ending = true;
      for (Thread thread : working) {
        thread.join();
      }
    }
    return !failed;
  }

  private void work(
      ErdaStore store, int client, SplittableRandom random, int keysMax, int keys, Path files) {
    try (TortureActor actor =
        new TortureActor(() -> store.client(Watchdog.OPTIONS), files, client, keysMax, watchdog)) {
      ClientLog.Outcome outcome = ClientLog.Outcome.DONE;
      while (!ending && outcome != ClientLog.Outcome.FAILED) {
        outcome = actor.connect() ? actor.step(random, keys, false) : ClientLog.Outcome.FAILED;
      }
    } catch (IOException | RuntimeException e) {
      System.err.println("client " + client + ": " + e);
      failed = true;
    }
  }

  private static String readLine() throws IOException {
    // Not closed, because standard input belongs to the process.
    return new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
  }
}
