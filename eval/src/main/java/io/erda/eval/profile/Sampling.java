package io.erda.eval.profile;

import io.erda.eval.process.Jvm;
import io.erda.eval.process.ProcessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import jdk.jfr.FlightRecorder;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * Samples the threads of processes every ten milliseconds with the JVM's Flight Recorder; the
 * samples of a process are available when it has ended. One thread.
 */
public final class Sampling {
  private static final String EVENT = "jdk.ExecutionSample";
  private static final long EVERY_MS = 10;
  private static final String EXTENSION = ".jfr";

  private final Path directory;

  /**
   * @param directory for recordings
   */
  public Sampling(Path directory) {
    this.directory = directory;
  }

  /** Why this Java can't record; empty when it can. */
  public static Optional<String> missing() {
    return FlightRecorder.isAvailable()
        ? Optional.empty()
        : Optional.of("this Java has no Flight Recorder");
  }

  /**
   * Returns the same JVM with a recorder, which writes when the JVM ends, but not when it is
   * killed.
   *
   * @throws ProcessException when the recorder can't write to a directory of such a name
   */
  public Jvm recording(Jvm jvm) {
    String quote = "\"";
    if (directory.toString().contains(quote)) {
      throw new ProcessException(
          "a JVM can't record into a directory whose name has a quotation mark: " + directory);
    }
    String parent = directory.toAbsolutePath().toString();
    String file = parent.replace("%", "%%") + "/%p" + EXTENSION;
    return jvm.with(
        "-XX:+UnlockDiagnosticVMOptions",
        // Otherwise samples in inlined code would be attributed to its caller.
        "-XX:+DebugNonSafepoints",
        // The recorded data lies there, and a kill leaves it.
        "-XX:FlightRecorderOptions:repository=" + quote + parent + quote,
        "-XX:StartFlightRecording:settings=none,+%s#enabled=true,+%s#period=%dms,filename=%s"
            .formatted(EVENT, EVENT, EVERY_MS, quote + file + quote));
  }

  /**
   * Passes on the stacks of a thread of an ended process while it ran Java code, innermost method
   * first.
   *
   * @param thread the thread's name
   * @param spans the times of interest; other samples are ignored
   */
  public void samples(long pid, String thread, List<Span> spans, Consumer<List<String>> each) {
    Path file = directory.resolve(pid + EXTENSION);
    if (isEmpty(file)) {
      throw new ProcessException("process " + pid + " has left no recording");
    }
    try (RecordingFile recording = new RecordingFile(file)) {
      while (recording.hasMoreEvents()) {
        RecordedEvent event = recording.readEvent();
        if (event.getEventType().getName().equals(EVENT)
            && isOf(event, thread)
            && spans.stream().anyMatch(span -> span.contains(event.getStartTime()))) {
          each.accept(methods(event.getStackTrace()));
        }
      }
    } catch (IOException e) {
      throw new ProcessException("can't read " + file + ": " + e.getMessage(), e);
    }
  }

  /**
   * Whether there is no recording, or an unwritten one: the file is made when the process starts.
   */
  private static boolean isEmpty(Path file) {
    try {
      return Files.size(file) == 0;
    } catch (IOException e) {
      return true;
    }
  }

  private static boolean isOf(RecordedEvent event, String name) {
    RecordedThread thread = event.getThread("sampledThread");
    return thread != null && name.equals(thread.getJavaName());
  }

  private static List<String> methods(RecordedStackTrace stack) {
    List<String> methods = new ArrayList<>();
    if (stack != null) {
      for (RecordedFrame frame : stack.getFrames()) {
        RecordedMethod method = frame.getMethod();
        methods.add(method.getType().getName() + "." + method.getName());
      }
    }
    return methods;
  }

  /** The number of samples of a thread in this time, if it runs Java code all the time. */
  public static double samplesIn(double ns) {
    return ns / (EVERY_MS * 1e6);
  }

  /**
   * A range of time.
   *
   * @param from included
   * @param to not included
   */
  public record Span(Instant from, Instant to) {

    boolean contains(Instant instant) {
      return !instant.isBefore(from) && instant.isBefore(to);
    }
  }
}
