package io.erda.simulation.mutants;

import static io.erda.simulation.mutants.Patch.before;
import static io.erda.simulation.mutants.Patch.beforeCall;
import static io.erda.simulation.mutants.Patch.beforeReturn;
import static io.erda.simulation.mutants.Patch.body;
import static io.erda.simulation.mutants.Patch.callDefect;
import static io.erda.simulation.mutants.Patch.constant;
import static io.erda.simulation.mutants.Patch.defect;
import static io.erda.simulation.mutants.Patch.field;
import static io.erda.simulation.mutants.Patch.onCall;
import static io.erda.simulation.mutants.Patch.without;

import io.erda.simulation.mutants.Patch.CallEdit;
import java.util.List;

/**
 * The defects of a table that becomes smaller: {@code Scenarios.tablesThatShrink}. Most of the code
 * is that of a table that becomes larger too, so each is one only while entries are moved to a
 * smaller table.
 */
final class ShrinkMutants {
  private static final String RESIZING = "hashtable.Resizing";
  private static final String TABLE = "hashtable.HashTable";
  private static final String TABLES = "server.engine.tables.Tables";
  private static final String GROWTH = "server.engine.tables.TableGrowth";
  private static final String FORGET_LATER = "forgetLater";
  private static final String RUN_LATER = "runLater";

  private ShrinkMutants() {}

  static final List<Mutant> ALL =
      List.of(
          // Entries are moved
          Mutant.of(
              "insertion into the table that is left",
              "an insertion goes to the table whose entries are being moved",
              () ->
                  List.of(
                      field(TABLES, "insert", "next", "nextUnlessHalving"),
                      field(TABLES, "stage", "next", "nextUnlessHalving"),
                      field(TABLES, "into", "next", "nextUnlessHalving"))),
          Mutant.of(
              "MOVED before the copy",
              "an entry is marked as moved, durably, before its copy is stored",
              () ->
                  List.of(
                      before(RESIZING, "move", code -> callDefect(code, FORGET_LATER, "()V")),
                      whileHalving(
                          RESIZING,
                          "copy",
                          "fillStaged#2",
                          (code, call) -> callDefect(code, "fillLater", "(Ljava/lang/Object;II)V")),
                      beforeReturn(RESIZING, "move", code -> callDefect(code, RUN_LATER, "()V")))),
          Mutant.of(
              "copies not drained",
              "an entry is marked as moved before its copy is durable",
              () -> List.of(withoutWhileHalving(RESIZING, "copy", "drain"))),
          Mutant.of(
              "key words of copies not drained",
              "a copy's version word is stored before its key word is durable",
              () -> List.of(withoutWhileHalving(RESIZING, "fillStaged", "drain"))),
          Mutant.of(
                  "stretch not drained",
                  "entries are copied before the stretch that has them is durable",
                  () -> List.of(withoutWhileHalving(RESIZING, "move", "drain#1")))
              .slow(),
          Mutant.of(
              "stretch too early",
              "the stretch of the next entries is stored before those of this one are moved",
              () ->
                  List.of(
                      whileHalving(
                          RESIZING,
                          "move",
                          "word",
                          (code, call) -> {
                            code.aload(0).swap();
                            callDefect(
                                code, "wordOfTheNext", "(Ljava/lang/Object;Ljava/lang/Object;)J");
                          }))),
          Mutant.of(
              "MOVED not drained",
              "the next stretch is stored before the marks of this one are durable",
              () -> List.of(withoutWhileHalving(RESIZING, "move", "drain#2"))),
          Mutant.of(
                  "freed copies not drained",
                  "recovery goes on before what it freed in the new table is durably free",
                  () -> List.of(withoutWhileHalving(RESIZING, "recover", "drain#2")))
              .survivesBecause(
                  "to free an entry drains its version word, and the opening made durable before"
                      + " what an earlier recovery had freed; `HalvingDefectTest` finds it"),
          Mutant.of(
              "freed copies stay",
              "recovery leaves the copies of entries that are not marked as moved",
              () -> List.of(withoutWhileHalving(RESIZING, "lambda$recover$0", "removeCopies"))),
          // The superblock, the epoch and the files
          Mutant.of(
              "smaller table not named",
              "entries are moved to a table that the superblock does not name",
              () -> List.of(withoutWhileHalving(GROWTH, "open", "store"))),
          Mutant.of(
              "smaller table not synchronised",
              "the superblock names a table before its file's name is durable",
              () -> List.of(withoutWhileHalving(GROWTH, "open", "sync"))),
          Mutant.of(
              "smaller table not announced",
              "the epoch stays when entries begin to move to the smaller table",
              () -> List.of(withoutWhileHalving(GROWTH, "open", "nextEpoch"))),
          Mutant.of(
              "end of a halving not stored",
              "the superblock names the old table when its file is removed",
              () -> List.of(withoutWhileHalving(GROWTH, "finish", "store"))),
          Mutant.of(
              "old table removed too early",
              "the old table's file is removed before the superblock names the new one alone",
              () ->
                  List.of(
                      before(GROWTH, "finish", code -> callDefect(code, FORGET_LATER, "()V")),
                      whileHalving(
                          GROWTH,
                          "finish",
                          "store",
                          (code, call) ->
                              callDefect(
                                  code, "storeLater", "(Ljava/lang/Object;Ljava/lang/Object;)V")),
                      beforeReturn(GROWTH, "finish", code -> callDefect(code, RUN_LATER, "()V")))),
          Mutant.of(
                  "end of a halving not announced",
                  "the epoch stays when the smaller table is the only one",
                  () -> List.of(withoutWhileHalving(GROWTH, "finish", "nextEpoch")))
              .survivesBecause(
                  "all of the old table is marked as moved, so readers of it go on to the new one;"
                      + " when it can't be READ any more they connect anew"),
          // Turning round
          Mutant.of(
              "stretch forgotten too late",
              "marks are freed before the stretch word is durably none",
              () -> List.of(without(RESIZING, "forget", "drain#1"))),
          Mutant.of(
              "freed mark not drained",
              "a slot's key word goes before it is durably free of its mark",
              () -> List.of(without(TABLE, "freeMoved", "drain"))),
          Mutant.of(
                  "forgetting not drained",
                  "the superblock says that a halving has turned before it is durably forgotten",
                  () -> List.of(without(RESIZING, "forget", "drain#2")))
              .survivesBecause(
                  "what is not durable then is that slots have no key word, and those are durably"
                      + " free"),
          Mutant.of(
              "turned before it is forgotten",
              "the superblock says that a halving has turned before any mark is freed",
              () ->
                  List.of(
                      before(GROWTH, "turn", code -> callDefect(code, FORGET_LATER, "()V")),
                      defect(GROWTH, "turn", "forget", "forgetMarksLater"),
                      beforeCall(
                          GROWTH, "turn", "turn", code -> callDefect(code, RUN_LATER, "()V")))),
          Mutant.of(
              "turn not stored",
              "entries move to the larger table, and the superblock says to the smaller one",
              () -> List.of(without(GROWTH, "turn", "store"))),
          Mutant.of(
                  "turn not announced",
                  "the epoch stays when entries begin to move back to the larger table",
                  () -> List.of(without(GROWTH, "turn", "nextEpoch")))
              .slow(),
          // Entries of deleted keys
          Mutant.of(
              "emptied entries not drained",
              "the key words of emptied entries go before they are durably empty",
              () -> List.of(without(TABLE, "empty", "drain"))),
          Mutant.of(
              "emptied entries not compared",
              "an entry is emptied whatever has become of it since it was looked at",
              () -> List.of(defect(TABLE, "empty", "replace", "storeAnyway"))),
          Mutant.of(
              "pending entry moved to the smaller table",
              "an entry is moved though a put is about to decide its word where it is",
              () ->
                  List.of(
                      constantWhileHalving(RESIZING, "lambda$collect$0", "pending", 0),
                      constant("hashtable.EntryLocks", "lock", "pending", 0))),
          Mutant.of(
                  "room for what moves not kept",
                  "an insertion takes the last room of a bucket that entries are still to move to",
                  () ->
                      List.of(
                          constantWhileHalving(RESIZING, "insert", "isCrowded", 0),
                          constantWhileHalving(RESIZING, "stage", "isCrowded", 0)))
              .survivesBecause(
                  "a halving that finds no room turns round, as the insertion would have made it;"
                      + " `CrowdedBucketTest` finds it"),
          Mutant.of(
                  "left key words stay in the table that is left",
                  "an insertion into the smaller table does not look at the larger one",
                  () ->
                      List.of(
                          withoutWhileHalving(RESIZING, "insert", "clearLeft"),
                          withoutWhileHalving(RESIZING, "stage", "clearLeft")))
              .survivesBecause(
                  "the opening made durable before what a killed server had emptied;"
                      + " `HalvingDefectTest` finds it"),
          // Iterations
          Mutant.of(
              "iteration forgets what it has taken",
              "an iteration that begins anew with a smaller table gives every key again",
              () ->
                  List.of(
                      body(
                          "client.iteration.ScanOrder",
                          "isTaken",
                          code -> code.iconst_0().ireturn()))));

  /** Calls are others while entries are moved to a smaller table, and else as they are. */
  private static Patch whileHalving(String className, String method, String callee, CallEdit edit) {
    return new Patch(
        className,
        method,
        onCall(
            callee,
            (code, call) -> {
              code.aload(0);
              callDefect(code, "isHalving", "(Ljava/lang/Object;)Z");
              code.ifThenElse(then -> edit.replace(then, call), others -> others.with(call));
            }));
  }

  /** Calls are left out then, and an int is taken for their result. */
  private static Patch constantWhileHalving(
      String className, String method, String callee, int result) {
    return whileHalving(
        className,
        method,
        callee,
        (code, call) -> {
          Patch.pop(code, call);
          code.loadConstant(result);
        });
  }

  /** Calls of nothing that returns are left out then. */
  private static Patch withoutWhileHalving(String className, String method, String callee) {
    return whileHalving(className, method, callee, Patch::pop);
  }
}
