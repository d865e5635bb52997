package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The heap of an application is full when its store ends. The thread of the store got no memory for
 * one of its final steps, died before it signalled its end, and {@link ErdaStore#close()} waited
 * for that signal for ever.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("long")
class OutOfMemoryTest {
  @TempDir Path directory;

  @Test
  void aStoreWhoseThreadGetsNoMemoryEnds() throws Exception {
    run(OutOfMemoryScenario.class, "-Xmx24m", directory.resolve("data").toString());
  }

  /**
   * The turn was lost where a thread got no memory for its step, and {@code close()} waited for it.
   * The thread {@code erda-tcp} got no memory to end in order; the port stayed bound and nobody was
   * told.
   */
  @ParameterizedTest
  @ValueSource(strings = {"embedded", "tcp"})
  void aServerAnyOfWhoseThreadsGetsNoMemoryEnds(String device) throws Exception {
    run(OutOfMemoryServingScenario.class, "-Xmx40m", directory.resolve("data").toString(), device);
  }

  private void run(Class<?> scenario, String heap, String... arguments) throws Exception {
    Path output = directory.resolve("output");
    List<String> command =
        ChildJvm.command(List.of("env", "JDK_JAVA_OPTIONS=" + heap), scenario, arguments);
    int code = ChildJvm.run(command, output, 60);
    String said = Files.readString(output);
    assertEquals(0, code, said);
    assertTrue(said.contains("done"), said);
  }
}
