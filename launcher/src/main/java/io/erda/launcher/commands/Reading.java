package io.erda.launcher.commands;

import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.client.KeyCursor;
import io.erda.console.TerminalProgress;
import io.erda.protocol.ErdaException;
import io.erda.server.StoreVerifier;
import java.io.IOException;
import java.util.function.LongConsumer;

/** Reads all keys of a store, for the commands that print or copy them. */
final class Reading {
  /** Takes the current key of a cursor, and perhaps its value. */
  interface Taker {
    void take(KeyCursor at) throws IOException;
  }

  /** Keys between two reads of the clock. */
  private static final int KEYS_A_LOOK = 1 << 12;

  private static final long SHOWN_EVERY_NS = 200_000_000;

  /**
   * Passes on every key once, and shows the number. A key whose object is damaged is reported on
   * standard error and skipped.
   *
   * @return how many were damaged
   */
  static int all(ErdaClient client, TerminalProgress progress, Taker taker) throws IOException {
    return all(client, count -> progress.at("%,d keys".formatted(count)), taker);
  }

  /** The same without showing the number. */
  static int all(ErdaClient client, Taker taker) throws IOException {
    return all(client, count -> {}, taker);
  }

  private static int all(ErdaClient client, LongConsumer shown, Taker taker) throws IOException {
    int damaged = 0;
    long count = 0;
    long shownNs = System.nanoTime();
    try (KeyCursor keys = client.keys()) {
      boolean more = true;
      while (more) {
        try {
          more = keys.next();
          if (more) {
            taker.take(keys);
            count++;
          }
        } catch (ErdaException.Damaged e) {
          damaged++;
          System.err.println("erda: " + e.getMessage());
        }
        if (count % KEYS_A_LOOK == 0 && System.nanoTime() - shownNs > SHOWN_EVERY_NS) {
          shownNs = System.nanoTime();
          shown.accept(count);
        }
      }
    }
    return damaged;
  }

  /**
   * Whether the store holds all that was stored in it. Otherwise its device did not take some of
   * it, and this is reported on standard error: keys may be missing.
   *
   * @param uri where the client is connected to
   */
  static boolean isWhole(ErdaClient client, String uri) {
    if (!isUnwritten(client, uri)) {
      return true;
    }
    System.err.println(
        "erda: the device of the store failed, and what was stored last may be lost: keys may be"
            + " missing (store.readonly.reason in 'erda stats', or 'erda verify' without a"
            + " server)");
    return false;
  }

  private static boolean isUnwritten(ErdaClient client, String uri) {
    // The files tell it without a server, too.
    if (ErdaUri.parse(uri) instanceof ErdaUri.Shm shm && StoreVerifier.isUnwritten(shm.data())) {
      return true;
    }
    try {
      return client.stats().getOrDefault("store.unwritten", 0L) != 0;
    } catch (ErdaException e) {
      return false;
    }
  }

  private Reading() {}
}
