package io.erda.server;

import io.erda.server.engine.store.StoreFailures;
import java.lang.System.Logger.Level;
import java.util.function.Consumer;

/**
 * Tells a server's log and its application that the store takes no more puts, and what its device
 * did not take before. Whoever takes a step of the server tells it; any thread may set the
 * listener.
 *
 * <p>A thread of its own calls the listener, which may take its time, close the server, or end the
 * JVM: the server's thread goes on meanwhile.
 */
final class ReadOnlyNews implements StoreFailures.Listener {
  private static final String LOGGER = "io.erda.server";

  /** Null when the server has no log. */
  private final ServerLog log;

  // Guarded by this.

  private String reason;
  private Consumer<String> listener = why -> {};

  /**
   * @param log null: none; then a logger of the JVM gets the reason why the store is read-only
   */
  ReadOnlyNews(ServerLog log) {
    this.log = log;
  }

  @Override
  public void full(String why) {
    if (log != null) {
      log.say(
          Level.WARNING,
          "there is no room for what is to be stored: puts and deletes are refused, gets go on, and"
              + " all goes on by itself when there is room: "
              + why);
    }
  }

  /** Tells what {@link LostWrites} has to say of the opening of the store. */
  void lostWrites(String words) {
    if (log == null) {
      System.getLogger(LOGGER).log(Level.WARNING, "{0}", words);
    } else {
      log.say(Level.WARNING, words);
    }
  }

  @Override
  public void readOnly(String why) {
    if (log == null) {
      // An application that does not put any more would not be told.
      System.getLogger(LOGGER).log(Level.ERROR, "the store is read-only now, gets go on: {0}", why);
    } else {
      log.say(
          Level.ERROR,
          "the store is read-only now, gets go on: "
              + why
              + "; when that is mended, start the server again");
    }
    Consumer<String> told;
    synchronized (this) {
      reason = why;
      told = listener;
    }
    try {
      Thread.ofPlatform().daemon().name("erda-news").start(() -> told.accept(why));
    } catch (OutOfMemoryError e) {
      // No thread is left. The log has the reason, and so has each refused put.
    }
  }

  /** See {@link ErdaServer#onReadOnly}. */
  void onReadOnly(Consumer<String> wanted) {
    String known;
    synchronized (this) {
      listener = wanted;
      known = reason;
    }
    if (known != null) {
      wanted.accept(known);
    }
  }
}
