package io.erda.console;

import java.io.PrintWriter;

/** Shows progress on standard error: one line for each step, which is overwritten on a terminal. */
public final class TerminalProgress implements Progress {
  private static final String ERASE_LINE = "\r\u001b[K";

  private final PrintWriter err;
  private final boolean terminal;
  private String step = "";

  public TerminalProgress(PrintWriter err, boolean terminal) {
    this.err = err;
    this.terminal = terminal;
  }

  @Override
  public void step(String what) {
    step = what;
    at("");
  }

  @Override
  public void at(String how) {
    if (terminal) {
      err.print(ERASE_LINE + step + " … " + how);
      err.flush();
    }
  }

  @Override
  public void done(String how) {
    err.println((terminal ? ERASE_LINE : "") + step + (how.isEmpty() ? "" : ": " + how));
    err.flush();
  }
}
