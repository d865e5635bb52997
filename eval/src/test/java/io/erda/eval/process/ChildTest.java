package io.erda.eval.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reading the output of a process that prints too much, too little, or nothing. */
@Timeout(60)
class ChildTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  private final Children children = new Children();

  @AfterEach
  void end() {
    children.close();
  }

  private Child script(String script) {
    return children.start("the script", List.of("/bin/sh", "-c", script));
  }

  @Test
  void otherLinesArePassedOver() {
    Child child = script("echo 'a library says hello'; echo; echo readymade; echo 'ready 7'");
    assertEquals("ready 7", child.await("ready ", LONG));
  }

  @Test
  void aProcessThatEndsBeforeItsLineSaysWhy() {
    Child child = script("echo rea; echo 'no space' >&2; echo ' at all' >&2; exit 3");
    ProcessException e = assertThrows(ProcessException.class, () -> child.await("ready ", LONG));
    assertEquals("the script ended with exit code 3: no space; at all", e.getMessage());
  }

  @Test
  void itsEndIsSaidAgain() {
    Child child = script("exit 3");
    assertThrows(ProcessException.class, () -> child.poll(LONG));
    ProcessException e = assertThrows(ProcessException.class, () -> child.poll(LONG));
    assertEquals("the script ended with exit code 3", e.getMessage());
  }

  @Test
  void aProcessThatIsSilentIsNotWaitedForForEver() {
    Child child = script("read line");
    ProcessException e =
        assertThrows(ProcessException.class, () -> child.await("ready ", Duration.ofMillis(1)));
    assertEquals("the script did not answer 'ready' within 1 ms", e.getMessage());
  }
}
