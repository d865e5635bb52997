package io.erda.launcher.commands;

import java.io.PrintWriter;

/**
 * Where {@code erda top} shows its views: the whole of a terminal, which gets back what it showed
 * before, or one view behind the other where there is none. Any thread may end it; nothing is
 * printed behind the end.
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
   * @param terminal whether {@code out} leads to one that knows escape sequences
   */
  TopScreen(PrintWriter out, boolean terminal) {
    this.out = out;
    this.terminal = terminal;
  }

  /**
   * Shows a view instead of the one before. Returns whether another one could be shown: it was not
   * ended, and somebody reads it.
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

  /** The terminal is as it was before. Idempotent. */
  synchronized void end() {
    if (begun && !ended) {
      out.print(END);
      out.flush();
    }
    ended = true;
  }
}
