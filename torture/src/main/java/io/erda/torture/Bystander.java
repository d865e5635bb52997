package io.erda.torture;

import io.erda.eval.process.ProcessException;
import io.erda.simulation.history.OperationKind;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;

/** The director's own client, which killed and stopped processes must not delay. */
final class Bystander implements AutoCloseable {
  private static final Duration TOO_LONG = Duration.ofSeconds(30);

  private final StoreShape store;
  private final Consumer<String> violations;
  private final Watchdog watchdog = new Watchdog(this::endLate);
  private final TortureActor actor;
  private long slowestAccessNs;

  Bystander(String uri, Path files, int client, StoreShape store, Consumer<String> violations)
      throws IOException {
    this.store = store;
    this.violations = violations;
    this.actor = new TortureActor(uri, files, client, store.keysMax(), watchdog);
  }

  private void endLate(String what) {
    actor.endLate(what);
  }

  /** The longest time that reading and writing a hot key took. */
  long slowestAccessNs() {
    return slowestAccessNs;
  }

  /** Reads and writes every hot key. */
  void accessHotKeys() {
    for (int key = 0; key < Torture.HOT_KEYS; key++) {
      long startNs = System.nanoTime();
      access(OperationKind.GET, key);
      ClientLog.Outcome outcome = access(OperationKind.PUT, key);
      if (!store.fills()) {
        slowestAccessNs = Math.max(slowestAccessNs, System.nanoTime() - startNs);
        if (outcome == ClientLog.Outcome.FULL) {
          violations.accept("a store that is not full refused a put for want of space");
        }
      }
    }
  }

  void readKeys(int keys) {
    for (int key = 0; key < keys; key++) {
      access(OperationKind.GET, key);
    }
  }

  /** Deletes most keys of a full store; then there must be room again. */
  void makeRoom(int keys) {
    for (int key = Torture.HOT_KEYS; key < keys; key++) {
      access(OperationKind.DELETE, key);
    }
    for (int key = 0; key < Torture.HOT_KEYS; key++) {
      if (access(OperationKind.PUT, key) == ClientLog.Outcome.FULL) {
        violations.accept("a put was refused for want of space after everything else was deleted");
      }
      access(OperationKind.GET, key);
    }
  }

  /** Repeats an operation until it succeeds, or the store is full. */
  ClientLog.Outcome access(OperationKind operation, int key) {
    long endNs = System.nanoTime() + TOO_LONG.toNanos();
    while (true) {
      ClientLog.Outcome outcome =
          actor.connect() ? actor.call(operation, key) : ClientLog.Outcome.FAILED;
      if (outcome != ClientLog.Outcome.FAILED) {
        return outcome;
      }
      if (System.nanoTime() - endNs > 0) {
        throw new ProcessException(
            operation
                + " of key "
                + key
                + " does not succeed within "
                + TOO_LONG.toSeconds()
                + " s");
      }
      Torture.pause(2_000_000);
    }
  }

  /** The server's figures, or null when it does not answer. */
  Map<String, Long> figures() {
    return actor.figures();
  }

  /** Asks the server to clean all heads. */
  void clean() {
    actor.clean();
  }

  @Override
  public void close() throws IOException {
    actor.close();
    watchdog.close();
  }
}
