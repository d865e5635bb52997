package io.erda.eval.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ProcessException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** The load process, played by a script of the shell. */
@Timeout(60)
class LoadChildTest {
  private static final LoadPhase PHASE = LoadPhase.of(false, 1, 4, new Properties());
  private static final String READY = "read a; echo ready; read a; ";

  private final Children children = new Children();
  private final List<Long> progress = new ArrayList<>();

  @AfterEach
  void end() {
    children.close();
  }

  /** The shell ignores the arguments of a JVM after the first option. */
  private LoadChild start(String script) {
    Jvm shell = new Jvm(Path.of("/bin/sh"), List.of("-c", script), List.of(), "");
    return LoadChild.start(children, shell, "no URI");
  }

  private void assertFails(String message, String script) {
    LoadChild load = start(script);
    Executable run = () -> load.run(PHASE, progress::add);
    assertEquals(message, assertThrows(ProcessException.class, run).getMessage());
  }

  @Test
  void aResultIsReadAndWhatComesBeforeIt() {
    LoadResult result =
        start(
                READY
                    + "echo 'progress 1'; echo 'YCSB says hello'; echo 'progress 3'; "
                    + "echo 'result operations=4 errors=1 updates=2 elapsedNs=1000"
                    + " read=2,1,2,3,4 update=2,5,6,7,8'")
            .run(PHASE, progress::add);
    assertEquals(
        new LoadResult(
            4, 1, 2, 1000, new Percentiles(2, 1, 2, 3, 4), new Percentiles(2, 5, 6, 7, 8)),
        result);
    assertEquals(List.of(1L, 3L), progress);
  }

  @Test
  void aResultThatIsCutOffIsAnError() {
    assertFails(
        "the load process answered 'operations=4 errors=1 upd', which is no result",
        READY + "printf 'result operations=4 errors=1 upd'");
  }

  @Test
  void progressThatIsNoNumberIsAnError() {
    assertFails(
        "the load process has done 'a lot' operations, which is no number",
        READY + "echo 'progress a lot'");
  }

  @Test
  void aResultThatDoesNotComeIsAnError() {
    assertFails(
        "the load process ended with exit code 3: no space",
        READY + "echo 'progress 1'; echo 'no space' >&2; exit 3");
  }

  @Test
  void aProcessThatIsNeverReadyIsAnError() {
    assertFails(
        "the load process ended with exit code 3: no server",
        "echo 'no server' >&2; read a; exit 3");
  }
}
