package io.erda.launcher.commands;

import java.io.PrintWriter;

/**
 * Shows the views of {@code erda top}: on the whole terminal, whose previous content is restored at
 * the end, or without a terminal one view after the other. Any thread may end it; nothing is
 * printed after the end.
 */
final class TopScreen {
  private static final String BEGIN = "\u001b[?1049h\u001b[?25l";
  private static final String HOME = "\u001b[H";
  private static final String LINE_END = "\u001b[K\n";
  private static final String REST_EMPTY = "\u001b[J";
  private static final String END = "\u001b[?25h\u001b[?1049l";

  private final PrintWriter out;
  private final boolean terminal;
  private boolean begun;
  private boolean ended;

  /**
   * @param terminal whether {@code out} leads to a terminal that supports escape sequences
   */
  TopScreen(PrintWriter out, boolean terminal) {
    this.out = out;
    this.terminal = terminal;
  }

  /**
   * Shows a view in place of the previous one. Returns whether another one can be shown: the screen
   * was not ended, and its reader has not left.
   *
   * @param view some lines, each with its end
   */
  synchronized boolean show(String view) {
    if (ended) {
      return false;
    }
    if (terminal) {
      out.print(begun ? HOME : BEGIN + HOME);
      begun = true;
      out.print(view.replace("\n", LINE_END) + REST_EMPTY);
    } else {
      out.print(view + "\n");
    }
    return !out.checkError();
  }

  /** Restores the terminal. Idempotent. */
  synchronized void end() {
    if (begun && !ended) {
      out.print(END);
      out.flush();
    }
    ended = true;
  }
}
