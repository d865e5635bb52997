package io.erda.eval;

import io.erda.console.Progress;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.report.Report;
import java.nio.file.Path;

/** A measurement that confirms or refutes a claim. */
public interface Experiment {
  /** The name for {@code eval run}. */
  String name();

  /** One line: what is measured, and the goal. */
  String what();

  /** Runs it. Closing the context's {@code children} ends all processes and removes all files. */
  Report run(Context context) throws InterruptedException;

  /**
   * The parameters of a run.
   *
   * @param temporaryDirectory for stores, which take up to some gigabytes
   * @param rounds how often each thing is measured, 0: the experiment's default; only some
   *     experiments use it
   * @param quick fewer rounds and objects: a test of the experiment, whose numbers mean nothing
   */
  record Context(
      Children children,
      Jvm jvm,
      Path temporaryDirectory,
      Progress progress,
      int rounds,
      boolean quick) {
    /**
     * Makes a directory that is removed when {@code children} is closed.
     *
     * @param experiment that names it
     */
    public Path newDirectory(String experiment) {
      return children.temporaryDirectory(temporaryDirectory, "erda-" + experiment + "-");
    }

    /** How often each thing is measured, for an experiment that uses this. */
    public int roundsOr(int full, int quickly) {
      return rounds > 0 ? rounds : quick ? quickly : full;
    }

    /** An empty report of this run. */
    public Report report() {
      return new Report(quick);
    }
  }
}
