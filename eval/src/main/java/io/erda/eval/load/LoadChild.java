package io.erda.eval.load;

import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.CpuTime;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ProcessException;
import java.time.Duration;
import java.util.function.LongConsumer;

/** A {@link LoadWorker} process, on the side of its parent. */
public final class LoadChild {
  private static final Duration READY_TIMEOUT = Duration.ofMinutes(5);
  private static final Duration SILENCE_MAX = Duration.ofSeconds(60);
  private static final String PROGRESS = "progress ";
  private static final String RESULT = "result ";

  private final Child child;

  private LoadChild(Child child) {
    this.child = child;
  }

  public static LoadChild start(Children children, Jvm jvm, String uri) {
    return new LoadChild(children.start("the load process", jvm.command(LoadWorker.class, uri)));
  }

  /** Connects and warms up; when this returns its threads are idle. */
  public void prepare(LoadPhase phase) {
    child.tell("prepare " + phase.format());
    child.await("ready", READY_TIMEOUT);
  }

  /** Begins the prepared phase. */
  public void go() {
    child.tell("go");
  }

  /**
   * Waits for the end of the phase.
   *
   * @param progress receives the number of operations done, now and then
   */
  public LoadResult result(LongConsumer progress) {
    while (true) {
      String line = child.poll(SILENCE_MAX);
      if (line == null) {
        throw new ProcessException(
            "the load process has said nothing for " + SILENCE_MAX.toSeconds() + " s");
      }
      if (line.startsWith(RESULT)) {
        return LoadResult.parse(line.substring(RESULT.length()));
      }
      if (line.startsWith(PROGRESS)) {
        progress.accept(done(line.substring(PROGRESS.length())));
      }
    }
  }

  private static long done(String operations) {
    try {
      return Long.parseLong(operations);
    } catch (NumberFormatException e) {
      throw new ProcessException(
          "the load process has done '" + operations + "' operations, which is no number", e);
    }
  }

  /** Prepares, begins, waits. */
  public LoadResult run(LoadPhase phase, LongConsumer progress) {
    prepare(phase);
    go();
    return result(progress);
  }

  public CpuTime cpu() {
    return CpuTime.of(child.pid());
  }

  public long pid() {
    return child.pid();
  }

  /** Its messages on standard error, with a separator before; empty when there are none. */
  public String errors() {
    return child.errorTail();
  }

  public void end() {
    child.end();
  }
}
