package io.erda.eval.process;

import java.util.ArrayDeque;
import java.util.Deque;

/** What is open, and is closed in reverse order, whatever closing something throws. One thread. */
public final class Opened implements AutoCloseable {
  private final Deque<Runnable> closes = new ArrayDeque<>();

  public void add(Runnable close) {
    closes.push(close);
  }

  /**
   * Closes all.
   *
   * @throws RuntimeException the first that closing something threw, when all is closed
   */
  @Override
  public void close() {
    RuntimeException first = null;
    while (!closes.isEmpty()) {
      try {
        closes.pop().run();
      } catch (RuntimeException e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
