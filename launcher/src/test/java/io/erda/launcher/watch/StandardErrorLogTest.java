package io.erda.launcher.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.System.Logger.Level;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The form of the log's lines. */
class StandardErrorLogTest {
  @Test
  void aLineHasTimeLevelAndText() {
    StringWriter err = new StringWriter();
    ArrayDeque<Instant> times =
        new ArrayDeque<>(
            List.of(
                Instant.parse("2026-11-23T13:45:01.250999Z"),
                Instant.parse("2026-11-23T13:45:02Z"),
                Instant.parse("2026-11-23T13:45:03.1Z")));
    System.Logger log = new StandardErrorLog(new PrintWriter(err), Level.INFO, times::poll);
    log.log(Level.INFO, "serves {0}, 100% ' {x}");
    log.log(Level.DEBUG, "nobody wants to know");
    log.log(Level.WARNING, "two\r\nlines\tand \u001b[31mred");
    log.log(Level.ERROR, "in {0}", "words");
    assertEquals(
        "2026-11-23T13:45:01.250Z INFO serves {0}, 100% ' {x}\n"
            + "2026-11-23T13:45:02.000Z WARN two; lines; and ; [31mred\n"
            + "2026-11-23T13:45:03.100Z ERROR in words\n",
        err.toString());
  }
}
