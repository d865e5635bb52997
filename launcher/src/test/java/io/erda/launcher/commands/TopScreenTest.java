package io.erda.launcher.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

/** Tests the bytes that are sent to a terminal. */
class TopScreenTest {
  private static final String END = "\u001b[?25h\u001b[?1049l";

  private final StringWriter out = new StringWriter();

  @Test
  void aTerminalGetsBackWhatItShowedAndNothingBehindThat() {
    TopScreen screen = new TopScreen(new PrintWriter(out), true);
    screen.show("a\nb\n");
    screen.show("c\n");
    screen.end();
    screen.show("d\n");
    screen.end();
    assertEquals(
        "\u001b[?1049h\u001b[?25l\u001b[Ha\u001b[K\nb\u001b[K\n\u001b[J"
            + "\u001b[Hc\u001b[K\n\u001b[J"
            + END,
        out.toString());
  }

  @Test
  void whatWasNotBegunIsNotEnded() {
    TopScreen screen = new TopScreen(new PrintWriter(out), true);
    screen.end();
    screen.show("a\n");
    assertEquals("", out.toString());
  }
}
