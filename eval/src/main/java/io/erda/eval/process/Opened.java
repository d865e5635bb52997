package io.erda.eval.process;

import java.util.ArrayDeque;
import java.util.Deque;

/** Open resources, which are closed in reverse order, even if closing one throws. One thread. */
public final class Opened implements AutoCloseable {
  private final Deque<Runnable> closes = new ArrayDeque<>();

  /** Adds a resource's close action, which throws no checked exception. */
  public void add(Runnable close) {
    closes.push(close);
  }

  /** Closes all after a failure, to which it adds exceptions from closing. */
  public void closeAfter(Throwable failure) {
    while (!closes.isEmpty()) {
      try {
        closes.pop().run();
      } catch (RuntimeException | Error e) {
        failure.addSuppressed(e);
      }
    }
  }

  /** Closes all, and then throws the first exception from closing. */
  @Override
  public void close() {
    while (!closes.isEmpty()) {
      try {
        closes.pop().run();
      } catch (RuntimeException | Error e) {
        closeAfter(e);
        throw e;
      }
    }
  }
}
