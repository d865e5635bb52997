package io.erda.eval.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.eval.process.Children;
import io.erda.eval.process.ProcessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the parsing of the output of {@code redis-benchmark -q}. */
@Timeout(60)
class RedisBenchmarkTest {
  private static final String SET = "SET: 52910.05 requests per second, p50=0.015 msec";
  private static final String GET = "GET: 54644 requests per second";

  private final Children children = new Children();

  @TempDir Path directory;

  @AfterEach
  void end() {
    children.close();
  }

  private static void assertNone(String test, List<String> lines) {
    ProcessException e =
        assertThrows(ProcessException.class, () -> RedisBenchmark.results(lines), lines::toString);
    assertEquals("redis-benchmark printed no result of " + test, e.getMessage());
  }

  @Test
  void resultsAreFoundAmongHowFarItIs() {
    List<String> lines =
        List.of(
            "WARNING: Could not fetch server CONFIG",
            "SET: rps=0.0 (overall: nan) avg_msec=nan (overall: nan)",
            "SET: rps=53000.0 (overall: 52000.0) avg_msec=0.015 (overall: 0.015)",
            "                                                            ",
            SET + "          ",
            "",
            "GET: rps=0.0 (overall: nan) avg_msec=nan (overall: nan)",
            GET);
    assertEquals(List.of(SET, GET), RedisBenchmark.results(lines));
  }

  @Test
  void aResultThatIsMissingIsNamed() {
    assertNone("SET", List.of());
    assertNone("SET", List.of(GET));
    assertNone("GET", List.of(SET));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET: 54644.81 requests per",
        "GET: ",
        "GET: nan requests per second",
        "GET: 54644. requests per second",
        "GET: -1 requests per second",
        "MGET: 54644.81 requests per second",
        "54644.81 requests per second"
      })
  void aResultThatIsCutOffOrGarbageIsNone(String line) {
    assertNone("GET", List.of(SET, line));
  }

  @Test
  void aBenchmarkThatFailsSaysWhy() throws IOException {
    Path program =
        Files.writeString(
            directory.resolve("redis-benchmark"),
            "#!/bin/sh\necho '" + SET + "'\necho 'Connection refused' >&2\nexit 1\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    ProcessException e =
        assertThrows(
            ProcessException.class,
            () -> RedisBenchmark.run(children, program, directory.resolve("socket"), 1024, 10));
    assertEquals("redis-benchmark printed no result of GET: Connection refused", e.getMessage());
  }
}
