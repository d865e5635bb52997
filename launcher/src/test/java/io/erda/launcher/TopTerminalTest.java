package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ServerChild;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code erda top} on a real terminal, which {@code script} of util-linux makes. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TopTerminalTest {
  private static final int CTRL_C = 3;
  private static final String BEGIN = "\u001b[?1049h";
  private static final String END = "\u001b[?1049l";
  private static final List<String> SMALL =
      List.of("--region-bytes", "16M", "--capacity", "256M", "--buckets", "4096");

  @TempDir Path directory;

  @Test
  void theScreenIsRestoredWhileTheServerIsAway() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/script")));
    try (Children children = new Children()) {
      ServerChild server =
          ServerChild.start(children, Jvm.current(), directory.resolve("data"), SMALL);
      Process top = top(server.uri());
      try {
        InputStream shown = top.getInputStream();
        awaitText(shown, BEGIN);
        assertEquals(0, new ProcessBuilder("kill", "-STOP", "" + server.pid()).start().waitFor());
        // By then it waits for an answer; if not, it ends as it does at any time.
        Thread.sleep(2_000);
        top.getOutputStream().write(CTRL_C);
        top.getOutputStream().flush();
        awaitText(shown, END);
        String rest = new String(shown.readAllBytes(), UTF_8);
        assertTrue(rest.isEmpty(), rest);
        assertTrue(top.waitFor(1, TimeUnit.MINUTES));
        assertEquals(0, top.exitValue());
      } finally {
        top.descendants().forEach(ProcessHandle::destroyForcibly);
        top.destroyForcibly();
        server.kill(); // a stopped one ends in no other way
      }
    }
  }

  private Process top(String uri) throws IOException {
    String command =
        Jvm.current().erda("top", "--uri", uri).stream()
            .map(word -> "'" + word + "'")
            .collect(Collectors.joining(" ", "exec ", ""));
    ProcessBuilder script =
        new ProcessBuilder("/usr/bin/script", "-qec", command, "/dev/null")
            .redirectErrorStream(true);
    script.environment().put("TERM", "xterm");
    return script.start();
  }

  private static void awaitText(InputStream in, String text) throws IOException {
    StringBuilder seen = new StringBuilder();
    while (!seen.toString().endsWith(text)) {
      int next = in.read();
      assertTrue(next >= 0, () -> "it has ended without the text: " + seen);
      seen.append((char) next);
    }
  }
}
