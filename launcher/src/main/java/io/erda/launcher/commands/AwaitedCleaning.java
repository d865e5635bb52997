package io.erda.launcher.commands;

import io.erda.console.UserError;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Waits until a server has done a requested cleaning. The wait also ends when the store becomes
 * read-only, when another server serves it, when the cleaning makes no progress, and, by the
 * time-out of a request, when no server answers.
 */
final class AwaitedCleaning {
  /** The longest time without progress of the cleaning before the wait ends. */
  static final long STANDSTILL_NS_MAX = 60_000_000_000L;

  private static final long LOOK_NS = 20_000_000;
  private static final String REASON = "store.readonly.reason=";

  private final Supplier<Map<String, Long>> figures;
  private final LongSupplier nanoTime;
  private final LongConsumer sleepNs;

  /**
   * @param figures the figures of the server, as {@code stats} shows them
   */
  AwaitedCleaning(
      Supplier<Map<String, Long>> figures, LongSupplier nanoTime, LongConsumer sleepNs) {
    this.figures = figures;
    this.nanoTime = nanoTime;
    this.sleepNs = sleepNs;
  }

  /**
   * Waits.
   *
   * @param before the figures when the cleaning was requested
   * @return the figures when it was done
   * @throws UserError when it will not be done, or not soon
   */
  Map<String, Long> await(Map<String, Long> before) {
    Map<String, Long> now = before;
    Map<String, Long> progress = progress(now);
    long progressNs = nanoTime.getAsLong();
    while (true) {
      requireAlive(before, now);
      if (now.getOrDefault("cleaner.asked", 0L) == 0) {
        return now;
      }
      if (nanoTime.getAsLong() - progressNs > STANDSTILL_NS_MAX) {
        throw new UserError(
            "the server has not got on with the cleaning for "
                + STANDSTILL_NS_MAX / 1_000_000_000
                + " s: it is in phase "
                + now.getOrDefault("cleaner.phase", 0L)
                + " (see cleaner.* of erda stats). It goes on with it when it can");
      }
      sleepNs.accept(LOOK_NS);
      now = figures.get();
      Map<String, Long> since = progress(now);
      if (!since.equals(progress)) {
        progress = since;
        progressNs = nanoTime.getAsLong();
      }
    }
  }

  private static void requireAlive(Map<String, Long> before, Map<String, Long> now) {
    if (now.getOrDefault("store.readonly", 0L) != 0) {
      throw new UserError("the store became read-only, so nothing is cleaned: " + reason(now));
    }
    if (!now.getOrDefault("store.incarnation", 0L)
        .equals(before.getOrDefault("store.incarnation", 0L))) {
      throw new UserError(
          "another server serves the store since the cleaning was asked for, and knows nothing of"
              + " it: ask again");
    }
  }

  private static String reason(Map<String, Long> figures) {
    return figures.keySet().stream()
        .filter(name -> name.startsWith(REASON))
        .map(name -> name.substring(REASON.length()))
        .findFirst()
        .orElse("the server's log says why");
  }

  /** The figures that change while a server cleans. */
  private static Map<String, Long> progress(Map<String, Long> figures) {
    Map<String, Long> progress = new TreeMap<>(figures);
    progress.keySet().removeIf(name -> !name.startsWith("cleaner."));
    return progress;
  }
}
