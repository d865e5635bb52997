package io.erda.eval;

import io.erda.console.Progress;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.report.Report;
import java.nio.file.Path;

/** A measurement that shows something, or shows that it is not so. */
public interface Experiment {
  /** What {@code eval run} calls it. */
  String name();

  /** One line: what is measured, and what it must be. */
  String what();

  /** Runs it. Processes and files are gone when the context's {@code children} is closed. */
  Report run(Context context) throws InterruptedException;

  /**
   * What an experiment works with.
   *
   * @param temporaryDirectory where stores go; they take up to some gigabytes
   * @param rounds how often each thing is measured, 0: as often as the experiment holds right; only
   *     some ask
   * @param quick fewer rounds and objects: to see that it works, not to believe the numbers
   */
  record Context(
      Children children,
      Jvm jvm,
      Path temporaryDirectory,
      Progress progress,
      int rounds,
      boolean quick) {
    /**
     * Makes a directory that is gone when {@code children} is closed.
     *
     * @param experiment what it is called after
     */
    public Path newDirectory(String experiment) {
      return children.temporaryDirectory(temporaryDirectory, "erda-" + experiment + "-");
    }

    /** How often each thing is measured, of an experiment that asks. */
    public int roundsOr(int full, int quickly) {
      return rounds > 0 ? rounds : quick ? quickly : full;
    }

    /** An empty report of a run like this. */
    public Report report() {
      return new Report(quick);
    }
  }
}
