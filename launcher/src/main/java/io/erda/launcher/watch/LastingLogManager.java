package io.erda.launcher.watch;

import java.util.logging.LogManager;

/**
 * java.util.logging whose handlers stay open until the server has said its last line. The JDK's
 * closes them in a shutdown hook, while the server is still being stopped in another one.
 */
public final class LastingLogManager extends LogManager {
  private volatile boolean lasting;

  /** Made by the JDK, which finds it by name. */
  public LastingLogManager() {}

  /** From now on handlers are closed by {@link #end} alone. */
  void last() {
    lasting = true;
  }

  /** Closes the handlers, with what they hold back. Nothing is logged any more. */
  void end() {
    lasting = false;
    reset();
  }

  @Override
  public void reset() {
    if (!lasting) {
      super.reset();
    }
  }
}
