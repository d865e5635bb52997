package io.erda.eval.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ProcessException;
import io.erda.eval.profile.Sampling.Span;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class SamplingTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  @TempDir private Path directory;

  /** A process with two busy threads, which ends with its standard input. */
  static final class Busy {
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
      Thread other = new Thread(Busy::turnOther, "other");
      other.setDaemon(true);
      other.start();
      Thread ours = new Thread(Busy::turn, "ours");
      ours.setDaemon(true);
      ours.start();
      System.out.println("busy");
      System.in.read();
    }

    private static void turn() {
      while (true) {
        sink++;
      }
    }

    private static void turnOther() {
      while (true) {
        sink--;
      }
    }
  }

  private static Child busy(Children children, Sampling sampling) {
    Jvm jvm = sampling.recording(Jvm.current());
    Child child = children.start("a busy process", jvm.command(Busy.class));
    child.await("busy", LONG);
    return child;
  }

  @Test
  void aThreadIsFoundInItsMethodsAndOnlyInTheSpans() throws Exception {
    // A comma, a space and a per cent sign mean something to the recorder.
    Sampling sampling = new Sampling(Files.createDirectory(directory.resolve("a, b%p")));
    Instant from;
    Instant to;
    long pid;
    try (Children children = new Children()) {
      Child child = busy(children, sampling);
      pid = child.pid();
      from = Instant.now();
      Thread.sleep(2_000);
      to = Instant.now();
      child.tell("end");
      assertEquals(0, child.awaitEnd(LONG));
    }
    List<List<String>> stacks = new ArrayList<>();
    sampling.samples(pid, "ours", List.of(new Span(from, to)), stacks::add);
    assertFalse(stacks.isEmpty());
    String turn = Busy.class.getName() + ".turn";
    long inTurn = stacks.stream().filter(stack -> stack.contains(turn)).count();
    // The thread may be found on the way into its method, and when that is compiled.
    assertTrue(
        inTurn * 10 >= stacks.size() * 9L,
        () -> "%d of %d samples are in turn: %s".formatted(inTurn, stacks.size(), stacks));
    String turnOther = Busy.class.getName() + ".turnOther";
    assertTrue(stacks.stream().noneMatch(stack -> stack.contains(turnOther)), stacks.toString());
    List<List<String>> later = new ArrayList<>();
    sampling.samples(pid, "ours", List.of(new Span(to.plusSeconds(60), Instant.MAX)), later::add);
    assertEquals(List.of(), later);
  }

  @Test
  void aKilledProcessLeavesWhatItRecordedInTheDirectoryAlone() throws Exception {
    Path ours = Files.createDirectory(directory.resolve("a, b%p"));
    Sampling sampling = new Sampling(ours);
    long pid;
    try (Children children = new Children()) {
      Child child = busy(children, sampling);
      pid = child.pid();
      child.kill();
    }
    try (Stream<Path> left = Files.list(ours)) {
      assertTrue(left.anyMatch(Files::isDirectory), "the recorder keeps its files elsewhere");
    }
    ProcessException e =
        assertThrows(
            ProcessException.class, () -> sampling.samples(pid, "ours", List.of(), stack -> {}));
    assertEquals("process " + pid + " has left no recording", e.getMessage());
  }

  @Test
  void aProcessThatLeftNoRecordingIsNamed() {
    ProcessException e =
        assertThrows(
            ProcessException.class,
            () -> new Sampling(directory).samples(1, "main", List.of(), stack -> {}));
    assertEquals("process 1 has left no recording", e.getMessage());
  }

  @Test
  void aDirectoryThatTheRecorderCannotWriteToIsRefused() {
    Sampling sampling = new Sampling(Path.of("a \"b\""));
    assertThrows(ProcessException.class, () -> sampling.recording(Jvm.current()));
  }
}
