package io.erda.torture;

import java.io.IOException;
import java.nio.file.Path;
import java.util.SplittableRandom;

/**
 * A client process of the torture. Arguments: URI, {@link ClientKind}, first client number, seed,
 * keys at most, keys to begin with, directory of the history files. It works slowly unless commands
 * on its standard input say otherwise: see {@link Pace}. It prints {@code ready} when its history
 * files are there, and reports violations by {@link Complaint}.
 */
public final class TortureClient {
  /**
   * The parameters of every client process.
   *
   * @param keysMax the most keys that will ever be used
   */
  record Setting(
      String uri, int firstClient, int keysMax, Path files, Pace pace, Watchdog watchdog) {}

  public static void main(String[] arguments) throws Exception {
    Thread.setDefaultUncaughtExceptionHandler((thread, e) -> {
      Complaint.say("thread " + thread.getName() + " ended by " + e);
      Runtime.getRuntime().halt(1);
    });
    Setting setting =
        new Setting(
            arguments[0],
            Integer.parseInt(arguments[2]),
            Integer.parseInt(arguments[4]),
            Path.of(arguments[6]),
            new Pace(Integer.parseInt(arguments[5])),
            new Watchdog());
    SplittableRandom random = new SplittableRandom(Long.parseLong(arguments[3]));
    switch (ClientKind.valueOf(arguments[1])) {
      case BLOCKING -> runBlocking(setting, setting.uri(), random, false);
      case READER -> runBlocking(setting, setting.uri() + "?read-only", random, true);
      case PIPELINED -> {
        try (PipelinedClients clients = new PipelinedClients(setting, random)) {
          ready();
          clients.run();
        }
      }
      case SHARED -> {
        try (SharedClients clients = new SharedClients(setting, random)) {
          ready();
          clients.run();
        }
      }
    }
    System.exit(0);
  }

  private static void ready() {
    System.out.println("ready");
  }

  private static void runBlocking(
      Setting setting, String uri, SplittableRandom random, boolean readsOnly) throws IOException {
    try (TortureActor actor =
        new TortureActor(
            uri, setting.files(), setting.firstClient(), setting.keysMax(), setting.watchdog())) {
      ready();
      Pace pace = setting.pace();
      while (!pace.ending()) {
        ClientLog.Outcome outcome =
            actor.connect() ? actor.step(random, pace.keys(), readsOnly) : ClientLog.Outcome.FAILED;
        pace.pause(outcome, random);
      }
    }
  }

  private TortureClient() {}
}
