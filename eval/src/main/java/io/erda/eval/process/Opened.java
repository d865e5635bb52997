package io.erda.eval.process;

import java.util.ArrayDeque;
import java.util.Deque;

/** What is open, and is closed in reverse order, whatever closing something throws. One thread. */
public final class Opened implements AutoCloseable {
  private final Deque<Runnable> closes = new ArrayDeque<>();

  /** Adds how something is closed, which throws nothing that is checked. */
  public void add(Runnable close) {
    closes.push(close);
  }

  /** Closes all because something failed, to which it adds what closing throws. */
  public void closeAfter(Throwable failure) {
    while (!closes.isEmpty()) {
      try {
        closes.pop().run();
      } catch (RuntimeException | Error e) {
        failure.addSuppressed(e);
      }
    }
  }

  /** Closes all, and throws what closing one of them threw first, when all are closed. */
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
