package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * An application has used up its direct memory, and opens clients of its store. Found by a tester:
 * they got the JVM's OutOfMemoryError.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NoDirectMemoryTest {
  @TempDir Path directory;

  @Test
  void clientsOfAnEmbeddedStoreSayWhatTheyLack() throws Exception {
    Path output = directory.resolve("output");
    List<String> command =
        ChildJvm.command(
            List.of("env", "JDK_JAVA_OPTIONS=-XX:MaxDirectMemorySize=16m"),
            NoDirectMemoryScenario.class,
            directory.resolve("data").toString());
    int code = ChildJvm.run(command, output, 60);
    List<String> said = Files.readAllLines(output);
    assertEquals(0, code, said::toString);
    assertEquals("done", said.getLast(), said::toString);
  }
}
