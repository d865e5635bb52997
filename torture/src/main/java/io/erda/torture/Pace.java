package io.erda.torture;

import io.erda.simulation.history.OperationKind;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * The commands on the standard input of a client process: {@code burst} makes it work at full speed
 * for a moment, so that a kill hits it at work; {@code keys N} lets it use N keys from then on;
 * {@code end}, and the end of the input, ends it. Any thread.
 *
 * <p>Some keys are hot, used by all clients; of the others the newest are used most, so that the
 * table grows.
 */
final class Pace {
  private static final long PAUSE_NS = 700_000;
  private static final long BURST_NS = 150_000_000;
  private static final long RETRY_NS = 5_000_000;

  /** One in so many keys counts as new. */
  private static final int NEWEST_SHARE = 4;

  private volatile long burstUntilNs = System.nanoTime();
  private volatile boolean ending;
  private volatile int keys;

  /**
   * @param keys the initial number of keys
   */
  Pace(int keys) {
    this.keys = keys;
    Thread thread = new Thread(this::listen, "standard-input");
    thread.setDaemon(true);
    thread.start();
  }

  boolean ending() {
    return ending;
  }

  boolean bursts() {
    return System.nanoTime() - burstUntilNs < 0;
  }

  /** Pauses after an operation with this outcome. */
  void pause(ClientLog.Outcome outcome, SplittableRandom random) {
    switch (outcome) {
      case FAILED, CLOSED, NOT_OWNED -> LockSupport.parkNanos(RETRY_NS);
      case DONE, FULL -> {
        if (!bursts()) {
          LockSupport.parkNanos(random.nextLong(2 * PAUSE_NS));
        }
      }
    }
  }

  /** The current number of keys. */
  int keys() {
    return keys;
  }

  /** One of the current keys. */
  int key(SplittableRandom random) {
    return key(random, keys);
  }

  static OperationKind operation(SplittableRandom random) {
    int choice = random.nextInt(100);
    if (choice < 38) {
      return OperationKind.GET;
    }
    if (choice < 78) {
      return OperationKind.PUT;
    }
    if (choice < 84) {
      return OperationKind.DELETE;
    }
    return choice < 96 ? OperationKind.PUT_IF : OperationKind.DELETE_IF;
  }

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
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
        if (line.startsWith("keys ")) {
          keys = Integer.parseInt(line.substring("keys ".length()));
        } else {
          burstUntilNs = System.nanoTime() + BURST_NS;
        }
      }
    } catch (IOException e) {
      // The other end is gone, which counts as the end of the input.
    }
    ending = true;
  }
}
