package io.erda.eval.peers.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.eval.load.LoadResult;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ProcessException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** A system that is measured, played by a script of the shell. */
@Timeout(60)
class PeerProcessTest {
  private static final String OPEN = "echo 'open a kill'; ";

  private final Children children = new Children();

  @TempDir Path directory;

  @AfterEach
  void end() {
    children.close();
  }

  /** The shell ignores the arguments of a JVM after the first option. */
  private PeerProcess start(String script) {
    Jvm shell = new Jvm(Path.of("/bin/sh"), List.of("-c", script), List.of(), "");
    PeerLibraries none = PeerLibraries.listed(directory.resolve("none"));
    return PeerProcess.start(
        new PeerSetup(children, shell, none, PeerSystem.ERDA_EMBEDDED, directory, 4, 8, false));
  }

  private static void assertFails(String message, Executable what) {
    assertEquals(message, assertThrows(ProcessException.class, what).getMessage());
  }

  @Test
  void answersAreRead() {
    try (PeerProcess process =
        start(
            "echo hello; "
                + OPEN
                + "read a; echo \"asked for $a\"; echo 'done 4 1000'; "
                + "read a; echo 'done 8 1000'")) {
      assertEquals("a kill", process.durability());
      assertEquals(250, process.load());
      assertEquals(125, process.get(Duration.ofMillis(20)));
    }
  }

  @Test
  void answersWithTimesAreRead() {
    try (PeerProcess process =
        start(
            OPEN
                + "read a; echo \"timed operations=3 errors=1 updates=1 elapsedNs=9"
                + " read=2,4,5,6,7 update=1,8,8,8,8\"; "
                + "read a; echo 'timed a lot'")) {
      LoadResult result = process.ycsb("workloadb", Duration.ofMillis(20));
      assertEquals(1, result.errors());
      assertEquals(5, result.read().p99());
      assertFails(
          "the load process answered 'a lot', which is no result",
          () -> process.paced(Duration.ofMillis(20), Duration.ofMillis(1)));
    }
  }

  @Test
  void anAnswerThatIsCutOffIsAnError() {
    try (PeerProcess process = start(OPEN + "read a; printf 'done 4'")) {
      assertFails(
          "Erda embedded answered 'done 4', not 'done OPERATIONS NANOSECONDS'", process::load);
    }
  }

  @Test
  void garbageIsAnError() {
    try (PeerProcess process = start(OPEN + "read a; echo 'done with it'")) {
      assertFails(
          "Erda embedded answered 'done with it', not 'done OPERATIONS NANOSECONDS'",
          process::verify);
    }
  }

  @Test
  void anAnswerThatDoesNotComeIsAnError() {
    try (PeerProcess process = start(OPEN + "read a; echo don; echo 'no space' >&2; exit 3")) {
      assertFails("Erda embedded ended with exit code 3: no space", process::load);
    }
  }

  @Test
  void aStoreThatDoesNotOpenIsAnError() {
    assertFails(
        "Erda embedded ended with exit code 3: no jar",
        () -> start("echo 'no jar' >&2; echo ope; exit 3"));
  }

  @Test
  void aStoreThatPromisesNothingIsAnError() {
    assertFails(
        "Erda embedded opened a store and did not say what a put survives",
        () -> start("echo 'open '; read a"));
  }
}
