package io.erda.eval;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import java.nio.file.Path;
import java.util.List;

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
   * @param out where plots go, or null
   */
  record Context(
      Children children,
      Jvm jvm,
      Path temporaryDirectory,
      Progress progress,
      int rounds,
      boolean quick,
      Path out) {
    /**
     * Makes a directory that is gone when {@code children} is closed.
     *
     * @param experiment what it is called after
     */
    public Path newDirectory(String experiment) {
      return children.temporaryDirectory(temporaryDirectory, "erda-" + experiment + "-");
    }
  }

  /**
   * What came out.
   *
   * @param text for people
   * @param json for programs
   * @param missed what was to be shown and was not, one line each; empty when all was
   */
  record Report(String text, ObjectNode json, List<String> missed) {
    public Report {
      missed = List.copyOf(missed);
    }
  }
}
