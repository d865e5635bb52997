package io.erda.simulation.mutants;

import static io.erda.simulation.mutants.Patch.before;
import static io.erda.simulation.mutants.Patch.beforeReturn;
import static io.erda.simulation.mutants.Patch.callDefect;
import static io.erda.simulation.mutants.Patch.constant;
import static io.erda.simulation.mutants.Patch.defect;
import static io.erda.simulation.mutants.Patch.field;
import static io.erda.simulation.mutants.Patch.without;

import java.util.List;

/** Defects of commits by clients of embedded stores, and of the turn that these share. */
final class CommitMutants {
  private static final String COMMITTER = "server.engine.service.Committer";
  private static final String LOCAL_PUTS = "server.engine.service.LocalPuts";
  private static final String TURN = "simulation.system.InsideTurn";
  private static final String LINE = TURN + "$InsideLine";

  static final List<Mutant> ALL =
      List.of(
          Mutant.of(
              "swap without comparison",
              "a commit stores the word that it has computed, whatever is there",
              () -> List.of(defect(COMMITTER, "commitFound", "swapWord", "swapAnyway"))),
          Mutant.of(
              "lost swap told as done",
              "a commit whose swap has failed is told as done",
              () -> List.of(Patch.result(COMMITTER, "commitFound", "swapWord", 1))),
          Mutant.of(
              "committer takes the tag for the key",
              "a commit does not compare the key",
              () -> List.of(constant(COMMITTER, "matches", "keyEquals", 1))),
          Mutant.of(
              "swap before the object",
              "a commit swaps the word before it stores the object",
              () ->
                  List.of(
                      before(TURN, "<init>", code -> callDefect(code, "forgetLater", "()V")),
                      defect(COMMITTER, "commitFound", "put", "putLater"),
                      beforeReturn(
                          COMMITTER, "commitFound", code -> callDefect(code, "runLater", "()V")))),
          Mutant.of(
                  "a step takes no note of commits",
                  "a step begins without what clients have committed since the last one",
                  () -> List.of(without(LOCAL_PUTS, "takeNoteOf", "step")))
              .survivesBecause(
                  "clients see nothing of live bytes and counts; `CommittersTest` finds it"),
          Mutant.of(
              "step beside a commit",
              "a step of the server begins while a client is within a commit",
              () -> List.of(constant(TURN, "begin", "isFree", 1))),
          Mutant.of(
              "commit beside a step",
              "a client commits while a step of the server waits",
              () -> List.of(field(LINE, "publish", "stepping", "no"))));

  private CommitMutants() {}
}
