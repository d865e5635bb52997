package io.erda.eval;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.Progress;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.report.Part;
import io.erda.eval.report.Words;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

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
  }

  /**
   * What came out.
   *
   * @param parts for people, in their order
   * @param json for programs
   * @param missed what was to be shown and was not, one line each; empty when all was
   * @param unjudged goals that are neither met nor missed, because this run can't tell, one line
   *     each with the reason
   */
  record Report(List<Part> parts, ObjectNode json, List<String> missed, List<String> unjudged) {
    public Report {
      parts = List.copyOf(parts);
      missed = List.copyOf(missed);
      unjudged = List.copyOf(unjudged);
    }

    /** All goals were judged. */
    public Report(List<Part> parts, ObjectNode json, List<String> missed) {
      this(parts, json, missed, List.of());
    }

    /** One part, a table for most. */
    public Report(Part part, ObjectNode json, List<String> missed) {
      this(List.of(part), json, missed);
    }

    /** Returns the report of an experiment that this machine can't run: nothing was shown. */
    public static Report skipped(String why) {
      ObjectNode json = JsonNodeFactory.instance.objectNode().put("skipped", why);
      String told = "not measured: " + why;
      return new Report(List.of(new Words(told)), json, List.of(), List.of(told));
    }

    /** What of it a terminal can show. */
    public String text() {
      return parts.stream()
          .map(Part::text)
          .filter(text -> !text.isEmpty())
          .collect(Collectors.joining("\n"));
    }
  }
}
