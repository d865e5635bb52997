package io.erda.launcher.watch;

import java.util.logging.LogManager;

/**
 * A manager of java.util.logging that keeps handlers open until the server has logged its last
 * line. The JDK's closes them in a shutdown hook, while another hook is still stopping the server.
 */
public final class LastingLogManager extends LogManager {
  private volatile boolean lasting;

  /** Called by the JDK, which finds the class by name. */
  public LastingLogManager() {}

  /** Makes only {@link #end} close the handlers from now on. */
  void last() {
    lasting = true;
  }

  /** Closes the handlers, which write buffered lines. Nothing may be logged afterwards. */
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
