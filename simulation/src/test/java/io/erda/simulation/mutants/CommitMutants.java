package io.erda.simulation.mutants;

import static io.erda.simulation.mutants.Patch.before;
import static io.erda.simulation.mutants.Patch.beforeReturn;
import static io.erda.simulation.mutants.Patch.body;
import static io.erda.simulation.mutants.Patch.callDefect;
import static io.erda.simulation.mutants.Patch.constant;
import static io.erda.simulation.mutants.Patch.defect;
import static io.erda.simulation.mutants.Patch.field;
import static io.erda.simulation.mutants.Patch.result;
import static io.erda.simulation.mutants.Patch.without;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.List;

/**
 * Defects of commits by clients of embedded stores, and of the turn that these share; and of those
 * by clients of other processes.
 */
final class CommitMutants {
  private static final String COMMITTER = "server.engine.service.Committer";
  private static final String LOCAL_PUTS = "server.engine.service.LocalPuts";
  private static final String TURN = "simulation.system.InsideTurn";
  private static final String LINE = TURN + "$InsideLine";
  private static final String COMMIT_LINE = "client.connections.CommitLine";
  private static final String CLIENT_COMMITS = "server.engine.service.ClientCommits";
  private static final String LATE_COMMITS = "server.engine.store.LateCommits";
  private static final String COMMITS_FILE = "server.engine.files.CommitsFile";

  static final List<Mutant> ALL =
      List.of(
          Mutant.of(
              "swap without comparison",
              "a commit stores the word that it has computed, whatever is there",
              () -> List.of(defect(COMMITTER, "commitFound", "swapWord", "swapAnyway"))),
          Mutant.of(
              "lost swap told as done",
              "a commit whose swap has failed is told as done",
              () -> List.of(result(COMMITTER, "commitFound", "swapWord", 1))),
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

  /** The mutants of commits by clients of other processes. */
  static final List<Mutant> OUTSIDE =
      List.of(
          Mutant.of(
              "turn not looked at again",
              "a client swaps although a step has begun since it noted the turn",
              () -> List.of(result(COMMIT_LINE, "commit", "stand", 1))),
          Mutant.of(
              "key taken for another",
              "a client does not compare the key of the object that it replaces",
              () -> List.of(constant(COMMIT_LINE, "commit", "keyEquals", 1))),
          Mutant.of(
              "lost swap of a client told as done",
              "a client whose swap has failed tells its put as done",
              () -> List.of(result(COMMIT_LINE, "commit", "compareAndSet", 1))),
          Mutant.of(
                  "ended lease used",
                  "a client commits in a lease that the server has ended",
                  () -> List.of(constant(COMMIT_LINE, "commit", "lease", 0)))
              .slow(),
          Mutant.of(
              "commits not awaited",
              "a step begins beside commits that are under way",
              () -> List.of(constant(CLIENT_COMMITS, "endCommits", "isCleared", 1))),
          Mutant.of(
              "stopped commit not defeated",
              "a step goes on beside a stopped client whose swap will succeed",
              () -> List.of(constant(CLIENT_COMMITS, "keep", "defeat", 1))),
          Mutant.of(
                  "line freed at once",
                  "a line is another client's while one that is gone may still store there",
                  () -> List.of(without(CLIENT_COMMITS, "tend", "getAsLong")))
              .survivesBecause(
                  "who has left stores to its line only for a moment, and seldom beside the client"
                      + " that has it then"),
          Mutant.of(
                  "defeat by an expected word",
                  "a commit is defeated by a word that another stopped client expects",
                  () -> List.of(result(LATE_COMMITS, "defeat", "noneMatch", 1)))
              .survivesBecause(
                  "two clients have to be stopped at one slot, for words of one meaning"),
          Mutant.of(
                  "slots not barred",
                  "the slot of a stopped client gets another key",
                  () -> List.of(body(LATE_COMMITS, "bars", CommitMutants::returnNone)))
              .survivesBecause(
                  "the word of a stopped client hardly ever comes again; `CommitLinesTest` finds"
                      + " it"),
          Mutant.of(
                  "places not pinned",
                  "a region is linked where a stopped client's words point",
                  () -> List.of(body(LATE_COMMITS, "pins", CommitMutants::returnNone)))
              .survivesBecause(
                  "the word of a stopped client hardly ever comes again; `CommitLinesTest` finds"
                      + " it"),
          Mutant.of(
                  "opening ends no turn",
                  "clients of the server before go on committing",
                  () -> List.of(without(COMMITS_FILE, "fence", "store")))
              .survivesBecause(
                  "clients of a dead server soon wait for it; `LateCommitsTest` finds it"),
          Mutant.of(
              "opening reads no record",
              "an opening knows nothing of stopped clients",
              () ->
                  List.of(
                      body(
                          LATE_COMMITS,
                          "tablesOf",
                          code ->
                              code.invokestatic(
                                      ClassDesc.of("java.util.Set"),
                                      "of",
                                      MethodTypeDesc.ofDescriptor("()Ljava/util/Set;"),
                                      true)
                                  .areturn()))));

  private static void returnNone(CodeBuilder code) {
    code.iconst_0().newarray(TypeKind.LONG).areturn();
  }

  private CommitMutants() {}
}
