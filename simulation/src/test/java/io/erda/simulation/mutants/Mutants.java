package io.erda.simulation.mutants;

import static io.erda.simulation.mutants.Patch.before;
import static io.erda.simulation.mutants.Patch.beforeReturn;
import static io.erda.simulation.mutants.Patch.body;
import static io.erda.simulation.mutants.Patch.callDefect;
import static io.erda.simulation.mutants.Patch.constant;
import static io.erda.simulation.mutants.Patch.defect;
import static io.erda.simulation.mutants.Patch.field;
import static io.erda.simulation.mutants.Patch.instead;
import static io.erda.simulation.mutants.Patch.result;
import static io.erda.simulation.mutants.Patch.without;
import static io.erda.simulation.mutants.Patch.withoutStore;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Opcode;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import java.util.function.Consumer;

/** The defects that the simulation is measured by. */
final class Mutants {
  private static final String PUBLICATION = "server.engine.publishing.Publication";
  private static final String CONNECTION = "server.engine.service.Connection";
  private static final String PENDING = "server.engine.tables.PendingWords";
  private static final String WRITER = "server.engine.store.StoreWriter";
  private static final String STOP_RECORD = "server.engine.files.StopRecord";
  private static final String OPENING = "server.engine.store.StoreOpening";
  private static final String WISHES = "server.engine.files.StoreWishes";
  private static final String TABLE = "hashtable.HashTable";
  private static final String MOVE = "hashtable.Displacement";
  private static final String LOG = "logstore.LogStore";
  private static final String LINKING = "logstore.Linking";
  private static final String MARKS = "logstore.WaterMarks";
  private static final String GET = "client.gets.Get";
  private static final String DIRECT_GET = "client.gets.DirectGet";
  private static final String SCAN = "client.iteration.Scan";
  private static final String LOOK_UP = "client.iteration.KeyWordLookUp";
  private static final String SCAN_ORDER = "client.iteration.ScanOrder";
  private static final String COPY = "client.gets.PrivateCopy";
  private static final String PUT = "client.puts.Put";
  private static final String CONDITION = "server.engine.publishing.Condition";
  private static final String MAP_READER = "client.files.MapReader";
  private static final String OPERATION = "client.operations.Operation";
  private static final ClassDesc MOVE_CLASS = ClassDesc.of("io.erda.hashtable.Displacement");
  private static final ClassDesc MEMORY_CLASS = ClassDesc.of("io.erda.pmem.PersistentMemory");
  private static final ClassDesc GET_CLASS = ClassDesc.of("io.erda.client.gets.Get");
  private static final ClassDesc MAP_CLASS = ClassDesc.of("io.erda.client.connections.RegionMap");
  private static final ClassDesc OPERATION_CLASS =
      ClassDesc.of("io.erda.client.operations.Operation");

  /** The local variable of {@code DirectGet.run} that holds the map. */
  private static final int NOW = 4;

  /** The parameter of {@code StoreOpening.checkStopRecord} that lets everything pass. */
  private static final int LOOKING = 1;

  private static final MethodTypeDesc BOOLEAN = MethodTypeDesc.of(ConstantDescs.CD_boolean);

  private Mutants() {}

  /** Those for which files fail while clients leave: {@code Scenarios.leavingInTheMiddle}. */
  static final List<Mutant> LEAVING =
      List.of(
          // FailedStoreTest.whatFailedIsNotFinished finds it without a simulation.
          Mutant.of(
              "finished when files failed",
              "a client is told that what failed with the store's files is over",
              () -> List.of(constant(CONNECTION, "answer", "isUndecided", 0))));

  static final List<Mutant> ALL =
      List.of(
          // Durability of a publication (rule 5)
          Mutant.of(
              "data not flushed",
              "the object is not flushed before its word is stored",
              () -> List.of(without(PUBLICATION, "beginWithObjects", "flush"))),
          Mutant.of(
              "data not drained",
              "the object is flushed, but its word is stored without waiting",
              () -> List.of(without(PUBLICATION, "beginWithObjects", "add"))),
          Mutant.of(
              "word before data",
              "flush and drain of the object follow the store of its word",
              () ->
                  List.of(
                      before(PUBLICATION, "begin", code -> callDefect(code, "forgetLater", "()V")),
                      defect(PUBLICATION, "beginWithObjects", "flush", "flushLater"),
                      defect(PUBLICATION, "beginWithObjects", "add", "addLater"),
                      beforeReturn(
                          PUBLICATION, "end", code -> callDefect(code, "runLater", "()V")))),
          Mutant.of(
              "word not flushed",
              "a version word is stored and not flushed",
              () ->
                  List.of(
                      without(TABLE, "putVersionWord", "flush"),
                      without(TABLE, "replace", "flush"))),
          Mutant.of(
              "word not drained",
              "a put is acknowledged before its word is drained",
              () -> List.of(without(PUBLICATION, "storeWords", "add"))),
          Mutant.of(
              "visible is durable",
              "words are committed at once where what is visible may still be lost",
              () -> List.of(constant(OPENING, "openExisting", "visibleBeforeDurable", 0))),
          Mutant.of(
              "unchecked publish",
              "the client sends PUBLISH before its WRITE, and the server takes the object for"
                  + " whole",
              () ->
                  List.of(
                      defect(PUBLICATION, "check", "validBytes", "believe"),
                      defect(PUT, "postWrite", "post", "writeLater"),
                      beforeReturn(
                          PUT, "postPublish", code -> callDefect(code, "runLater", "()V")))),
          Mutant.of(
              "ignores rule 3",
              "a second put of a key is stored over the first one's pending word",
              () ->
                  List.of(
                      constant(PUBLICATION, "storeWord", "isLive", 0),
                      instead(PENDING, "over", "rollback", "commit"),
                      result(PENDING, "commit", "storeWord", 1))),
          // Batches that wait for a device
          Mutant.of(
              "device not waited for",
              "a batch goes on while its drains are under way",
              () -> List.of(constant(PUBLICATION, "advance", "isDone", 1))),
          Mutant.of(
              "failed drain taken for done",
              "a batch goes on when the device could not write what it waited for",
              () -> List.of(defect(PUBLICATION, "advance", "isDone", "isDoneOrFailed"))),
          Mutant.of(
              "staged key word not waited for",
              "a new key's version word is stored while its key word is not durable",
              () -> List.of(without(PUBLICATION, "stageKeys", "add"))),
          Mutant.of(
                  "extent ended under a batch",
                  "an extent ends while what was published in it is being made durable",
                  () -> List.of(without("server.engine.service.LeaseGrants", "settle", "finish")))
              .slow(),
          // A client has to leave between two batches that one claim covers; SlowDeviceTest does.
          Mutant.of(
                  "finished with more under way",
                  "a client is told that all is over of which the next batch has some",
                  () ->
                      List.of(
                          constant(CONNECTION, "finish", "isThrough", 1),
                          constant(CONNECTION, "answer", "isThrough", 1)))
              .slow(),
          // Conditions
          Mutant.of(
              "condition not looked at",
              "a put with a condition is done whatever the key has",
              () -> List.of(body(CONDITION, "test", code -> code.iconst_0().ireturn()))),
          Mutant.of(
              "any value is the expected one",
              "a put that expects a value is done where the key has another one",
              () -> List.of(constant(CONDITION, "test", "isEqual", 1))),
          Mutant.of(
                  "deleted is a value",
                  "a put that expects no value is not done where the key was deleted",
                  () -> List.of(constant(CONDITION, "test", "isValue", 1)))
              .slow(),
          Mutant.of(
              "conflict is success",
              "a client is told that a put was done whose condition did not hold",
              () -> List.of(withoutStore(PUT, "onResponse", "conflict"))),
          // The log
          Mutant.of(
              "position not in the checksum",
              "an object is valid wherever it lies",
              () ->
                  List.of(
                      body(
                          "logstore.ObjectChecksum",
                          "positionMix",
                          code -> code.iconst_0().ireturn()))),
          Mutant.of(
                  "file used again at once",
                  "a region's file becomes another's while clients may store there",
                  () ->
                      List.of(
                          body(
                              "server.engine.service.Departures$Departure",
                              "allLeft",
                              code -> code.iconst_1().ireturn())))
              .slow(),
          Mutant.of(
                  "strangers forgotten",
                  "who is gone is taken for one that stores nothing any more",
                  () ->
                      List.of(
                          constant("server.engine.service.Departures", "doWork", "getAsInt", 0)))
              .slow(),
          Mutant.of(
                  "embedded opening fences nobody",
                  "an embedded store knows nothing of the clients of the server before",
                  () ->
                      List.of(
                          constant(
                              "server.engine.service.Ports",
                              "strangers",
                              "strangersOfAbandoned",
                              0)))
              .slow(),
          // The record of a stop
          Mutant.of(
                  "stop recorded before it is durable",
                  "the record of a clean stop describes what a power failure may still take",
                  () ->
                      List.of(
                          without(STOP_RECORD, "file", "flush"),
                          without(STOP_RECORD, "file", "drain")))
              .slow(),
          Mutant.of(
              "stop not compared",
              "an opening and an inspection believe that tables are what they were at the stop",
              () -> List.of(body(STOP_RECORD + "$Differences", "page", CodeBuilder::return_))),
          Mutant.of(
                  "stop not compared by an opening",
                  "an opening takes tables that are not what they were at the stop",
                  () ->
                      List.of(
                          before(
                              OPENING, "checkStopRecord", code -> code.iconst_1().istore(LOOKING))))
              .slow(),
          Mutant.of(
              "record of a stop stays",
              "an opening leaves the record of the stop before",
              () -> List.of(body(STOP_RECORD, "remove", CodeBuilder::return_))),
          Mutant.of(
                  "first place not emptied",
                  "a file that is used again looks as if its region had been linked",
                  () -> List.of(without(LINKING, "named", "putLongRelease")))
              .slow(),
          Mutant.of(
              "place handed out twice",
              "the point of appending does not move on",
              () -> List.of(withoutStore(LOG, "grant", "append"))),
          Mutant.of(
                  "rest of an extent handed out again",
                  "an ended extent's unused part goes back, and its holder may still write there",
                  () ->
                      List.of(
                          beforeReturn(
                              LOG,
                              "end",
                              code -> {
                                code.aload(0);
                                code.aload(1);
                                callDefect(
                                    code, "giveBack", "(Ljava/lang/Object;Ljava/lang/Object;)V");
                              })))
              .slow(),
          Mutant.of(
              "above the high-water mark",
              "space is handed out and the mark is not stored",
              () -> List.of(without(MARKS, "raiseHigh", "storeHigh"))),
          Mutant.of(
              "high-water mark not drained",
              "space is handed out before the mark is durable",
              () -> List.of(without(MARKS, "raiseHigh", "drain"))),
          Mutant.of(
                  "low-water mark too high",
                  "the low-water mark passes commits that are not drained",
                  () -> List.of(without(PUBLICATION, "settle", "drain")))
              .slow(),
          Mutant.of(
                  "low-water mark not closed",
                  "recovery leaves the low-water mark where it was",
                  () -> List.of(without(MARKS, "close", "storeLow")))
              .survivesBecause(
                  "recovery acts on pending words only, and decides all of them: looking again"
                      + " finds nothing"),
          Mutant.of(
              "generation not stored",
              "a region is made before its number is used up",
              () -> List.of(without(LINKING, "named", "storeNextGeneration"))),
          Mutant.of(
              "region not synchronised",
              "a region is linked before its file's name is durable",
              () -> List.of(without(LINKING, "named", "sync"))),
          Mutant.of(
              "link not drained",
              "a lease is granted in a region whose link is not durable",
              () -> List.of(without(LINKING, "link", "drain"))),
          Mutant.of(
                  "map of two epochs",
                  "a client takes pages of the region map that are of different epochs for one map",
                  () ->
                      List.of(
                          smallMapPages(),
                          withoutStore("client.connections.MapFetch", "onPage", "mixed")))
              .survivesBecause(
                  "the epoch of the map is that of its first and oldest page, and a get compares it"
                      + " with the root's"),
          Mutant.of(
              "region map not announced",
              "the epoch stays when a region is linked",
              () -> List.of(without("server.engine.service.ServedRegions", "linked", "nextEpoch"))),
          // The capacity
          Mutant.of(
              "capacity not stored",
              "an opening gives the log another capacity, and the superblock has the one before",
              () -> List.of(without(WISHES, "fulfil", "store"))),
          Mutant.of(
              "slots made too late",
              "the superblock says how long the region table is before it is so long",
              () ->
                  List.of(
                      before(WISHES, "fulfil", code -> callDefect(code, "forgetLater", "()V")),
                      defect(WISHES, "fulfil", "makeSlots", "makeSlotsLater"),
                      beforeReturn(WISHES, "fulfil", code -> callDefect(code, "runLater", "()V")))),
          Mutant.of(
              "slots forgotten",
              "a lowered capacity makes the region table as short as that",
              () ->
                  List.of(
                      new Patch(
                          "logstore.LogGeometry",
                          "withRegionsMax",
                          Patch.onCall("max", (code, call) -> code.swap().pop())))),
          Mutant.of(
                  "too small a capacity taken",
                  "a store gets a capacity that is less than what is linked",
                  () -> List.of(body(WISHES, "requireEnough", CodeBuilder::return_)))
              .slow(),
          Mutant.of(
              "lowered capacity not held",
              "regions are linked as long as the region table has a free slot",
              () ->
                  List.of(instead("logstore.LinkedRegions", "freeRegions", "regionsMax", "slots"))),
          // Recovery
          Mutant.of(
              "recovers the last page only",
              "recovery looks at the last 4 KiB below the high-water mark",
              () -> List.of(field("logstore.RecoveryScan", "scan", "low", "lastPage"))),
          Mutant.of(
              "recovers nothing",
              "recovery commits no pending word",
              () ->
                  List.of(
                      body(
                          "server.engine.store.Recovery",
                          "commitIfPending",
                          code -> code.iconst_0().ireturn()))),
          Mutant.of(
              "what was left not made durable",
              "an opening does not make durable what a killed server did not drain",
              () -> List.of(without("server.engine.files.StorePromise", "keep", "makeDurable"))),
          Mutant.of(
              "objects left in the page cache",
              "an opening that promises power makes durable what an earlier one left, but objects",
              () ->
                  List.of(
                      defect(
                          "server.engine.files.StorePromise",
                          "keep",
                          "makeDurable",
                          "makeStructuresDurable"))),
          Mutant.of(
              "promise not recorded",
              "an opening keeps the promise of power, and the next one does not know of it",
              () -> List.of(without("server.engine.files.StorePromise", "keep", "store"))),
          Mutant.of(
                  "region table not flushed",
                  "recovery builds on records that a killed server did not drain",
                  () -> List.of(without(LOG, "open", "flushAll")))
              .survivesBecause(
                  "the opening made everything durable before, and closing the marks flushes each"
                      + " record's line"),
          // The table
          Mutant.of(
              "key word not drained",
              "an insertion stores the version word before the key word is durable",
              () -> List.of(without(TABLE, "fill", "drain"))),
          Mutant.of(
              "emptied word not drained",
              "an entry's key word goes before its emptied version word is durable",
              () -> List.of(without(TABLE, "clearFreed", "drain"))),
          // An assertion of the table finds it: a slot is taken for free that is not. Without that
          // it takes a kill between the two stores of an emptying, then a displacement to that
          // slot,
          // and a crash within it. CrashTest and DoublingCrashTest fail at once.
          Mutant.of(
                  "left key words stay",
                  "an insertion believes a slot free whose emptying may not be durable",
                  () -> List.of(body(TABLE, "clearLeftKeyWord", CodeBuilder::return_)))
              .slow(),
          Mutant.of(
              "moves backwards",
              "a displacement empties the source before it stores the destination",
              () -> List.of(body(MOVE, "carry", Mutants::carryBackwards))),
          Mutant.of(
              "move not drained",
              "a displacement empties the source before the destination is durable",
              () -> List.of(without(MOVE, "carry", "drain"))),
          // FailedMoveTest finds it at once.
          Mutant.of(
                  "failed move stays open",
                  "a displacement that the device cuts off leaves the structure counter odd",
                  () -> List.of(without(MOVE, "move", "endMove#1")))
              .slow(),
          Mutant.of(
              "intent not drained",
              "a displacement begins before its intent is durable",
              () ->
                  List.of(
                      without(MOVE, "storeIntent", "drain"),
                      without(MOVE, "storeValidWord", "drain"))),
          Mutant.of(
              "intent stays",
              "a finished displacement is replayed at the next start",
              () -> List.of(body(MOVE, "clearIntent", CodeBuilder::return_))),
          Mutant.of(
                  "pending entry moved",
                  "entries with pending words are displaced, and the committing store does not look"
                      + " again",
                  () ->
                      List.of(
                          constant(TABLE, "movable", "pending", 0),
                          constant("hashtable.EntryLocks", "lock", "pending", 0),
                          defect(TABLE, "storeWord", "replace", "storeAnyway")))
              .slow(),
          Mutant.of(
                  "structure counter stays even",
                  "readers don't learn that an entry moves",
                  () ->
                      List.of(
                          body("server.engine.files.RootFile", "beginMove", CodeBuilder::return_),
                          body("server.engine.files.RootFile", "endMove", CodeBuilder::return_)))
              .slow(),
          Mutant.of(
                  "source not drained",
                  "the intent of a displacement or removal is cleared before the source is durably"
                      + " empty",
                  () -> List.of(without(MOVE, "clearSourceTag", "drain")))
              .slow(),
          // The rules for words find it; histories alone did not within 2,500 seeds of three sets.
          Mutant.of(
              "seen erased too early",
              "a delete without space empties an entry that holds a value as if it held a"
                  + " tombstone",
              () -> List.of(instead(WRITER, "erase", "remove", "empty"))),
          // Cleaning; CleaningMutantsTest has more
          Mutant.of(
              "drops what is being written",
              "a region is cleaned and freed while writers still hold space in it",
              () -> List.of(constant("cleaner.Cleaning", "waitForWriters", "hasOpenExtents", 0))),
          // Connections and clients
          Mutant.of(
              "dead writer not fenced",
              "the server keeps the queue pair of a connection that it gave up",
              () -> List.of(without("server.engine.service.Connection", "close", "close"))),
          Mutant.of(
              "acknowledged when sent",
              "the client takes its SEND for the server's answer",
              () ->
                  List.of(
                      beforeReturn(PUT, "placed", Mutants::finishWhenPublished),
                      before(PUT, "onResponse", Mutants::returnUnlessPublished))),
          Mutant.of(
              "told twice",
              "an operation that was told stays the next one to be told",
              () -> List.of(withoutStore("client.operations.Outcomes", "tell", "first"))),
          Mutant.of(
              "broken connection acknowledged",
              "a put counts as done when its connection breaks after it was sent",
              () ->
                  List.of(
                      new Patch(
                          OPERATION,
                          "onSessionLost",
                          Patch.onCall(
                              "fail#1",
                              (code, call) -> {
                                code.pop();
                                finish(code);
                              })))),
          Mutant.of(
              "put replayed",
              "a put that was sent is sent again over the next connection",
              () -> List.of(constant(OPERATION, "onSessionLost", "published", 0))),
          Mutant.of(
              "gone client's put published",
              "the server does not drop what a client had posted that has left",
              () ->
                  List.of(
                      body(PUBLICATION, "claim", CodeBuilder::return_),
                      constant(PUBLICATION, "stillWanted", "isThere", 1))),
          Mutant.of(
              "claims nothing",
              "the server looks whether a client is still there, and does not say what it takes",
              () -> List.of(constant(PUBLICATION, "claim", "claim", 1))),
          Mutant.of(
              "taken for taken back",
              "a client that gives up believes that the server had begun with nothing",
              () ->
                  List.of(
                      body(
                          "client.connections.Withdrawal",
                          "neverTaken",
                          code -> code.iconst_1().ireturn()))),
          Mutant.of(
                  "incarnation not checked",
                  "a get believes a map of an earlier server",
                  () -> constantOfMap("incarnation"))
              .slow(),
          Mutant.of("epoch not checked", "a get believes an old map", () -> constantOfMap("epoch")),
          Mutant.of(
                  "absent at once",
                  "a get finds nothing while an entry moves, and says absent",
                  () ->
                      List.of(
                          field(GET, "onNoMatch", "counterBefore", "zero"),
                          field(GET, "onNoMatch", "counterAfter", "zero")))
              .slow(),
          Mutant.of(
                  "reads what is pending",
                  "a get takes the newest version, committed or not",
                  () ->
                      List.of(
                          instead(GET, "tryEntries", "committed", "newest"),
                          instead(DIRECT_GET, "committedOf", "committed", "newest")))
              .slow(),
          // Iterations
          Mutant.of(
                  "iteration ignores the structure counter",
                  "what was READ while entries moved counts",
                  () -> List.of(body(LOOK_UP, "isUnmoved", code -> code.iconst_1().ireturn())))
              .slow(),
          Mutant.of(
              "iteration goes by slots",
              "an iteration gives what lies in a stretch of slots, not what is at home there",
              () ->
                  List.of(
                      body(
                          "client.iteration.ScanEntries",
                          "isHome",
                          code -> code.iconst_1().ireturn()),
                      body(
                          SCAN_ORDER,
                          "slots",
                          code ->
                              code.aload(0)
                                  .getfield(
                                      ClassDesc.of("io.erda." + SCAN_ORDER),
                                      "count",
                                      ConstantDescs.CD_int)
                                  .ireturn()))),
          Mutant.of(
              "iteration READs the old table alone",
              "an iteration does not look at what was moved to the new table",
              () ->
                  List.of(
                      constant(SCAN, "postTable", "isResizing", 0),
                      constant(LOOK_UP, "postKeyWord", "isResizing", 0))),
          Mutant.of(
              "iteration compares no keys",
              "a key whose entry was met in both tables is given twice",
              () ->
                  List.of(
                      body(
                          "client.iteration.KeyWordGroup",
                          "give",
                          code -> code.iconst_1().ireturn()))),
          Mutant.of(
                  "map from the files is older than its epoch",
                  "who reads the files looks at the epoch behind what a map of it names",
                  () ->
                      List.of(
                          new Patch(
                              MAP_READER,
                              "readOnce",
                              Patch.onCall(
                                  "epoch",
                                  (code, call) -> {
                                    Patch.pop(code, call);
                                    code.aload(0)
                                        .invokevirtual(
                                            ClassDesc.of("io.erda." + MAP_READER),
                                            "epochNow",
                                            MethodTypeDesc.of(ConstantDescs.CD_long));
                                  }))))
              .slow(),
          Mutant.of(
              "map from the files leaves the new table out",
              "who reads the files looks at the old table alone",
              () -> List.of(constant("client.files.FileAnswers", "map", "resizing", 0))),
          Mutant.of(
                  "files are read before recovery",
                  "who reads the files does not look whether the machine was started anew",
                  () -> List.of(constant(MAP_READER, "requireRecovered", "isStopped", 1)))
              .slow(),
          Mutant.of(
                  "link word not looked at",
                  "who reads the files takes what he READ for the region's that he asked for",
                  () ->
                      List.of(
                          body(
                              "client.files.ReachedFiles",
                              "isLinked",
                              code -> code.iconst_1().ireturn())))
              .survivesBecause(
                  "the checksum tells the generations apart; a mixture of both passes it once in"
                      + " 2^32; `ReadOnlyDeviceTest` finds it"),
          Mutant.of(
              "get without checksum",
              "a get believes what it read",
              () ->
                  List.of(
                      constant(COPY, "isWhole", "compute", 0),
                      constant(COPY, "isWhole", "checksum", 0))),
          Mutant.of(
              "tag taken for the key by the server",
              "a put or a delete does not compare the key",
              () ->
                  List.of(
                      body(
                          "server.engine.tables.StoredObjects",
                          "matches",
                          code -> code.iconst_1().ireturn()))),
          Mutant.of(
              "tag taken for the key",
              "a get does not compare the key",
              () -> List.of(body(COPY, "isKey", code -> code.iconst_1().ireturn()))));

  /** No defect: a map of a few regions has several pages, as one of some hundred has. */
  static Patch smallMapPages() {
    return defect("server.engine.service.MapRequests", "onMap", "min", "fewRecords");
  }

  private static void carryBackwards(CodeBuilder code) {
    code.aload(0).getfield(MOVE_CLASS, "memory", MEMORY_CLASS);
    code.lload(1).lload(3).lload(5).lload(7);
    callDefect(code, "carryBackwards", "(Lio/erda/pmem/PersistentMemory;JJJJ)V");
    code.return_();
  }

  private static void finish(CodeBuilder code) {
    code.invokevirtual(OPERATION_CLASS, "finish", MethodTypeDesc.of(ConstantDescs.CD_void));
  }

  private static void finishWhenPublished(CodeBuilder code) {
    code.aload(0).invokevirtual(OPERATION_CLASS, "published", BOOLEAN);
    code.ifThen(then -> finish(then.aload(0)));
  }

  private static void returnUnlessPublished(CodeBuilder code) {
    code.aload(0).invokevirtual(OPERATION_CLASS, "published", BOOLEAN);
    code.ifThen(Opcode.IFEQ, CodeBuilder::return_);
  }

  /** The root always shows the epoch of the map. */
  private static List<Patch> constantOfMap(String name) {
    return List.of(
        constantOfMap(
            GET, "onRoot", name, code -> code.aload(0).getfield(GET_CLASS, "map", MAP_CLASS)),
        constantOfMap(DIRECT_GET, "run", name, code -> code.aload(NOW)));
  }

  private static Patch constantOfMap(
      String className, String method, String name, Consumer<CodeBuilder> map) {
    return new Patch(
        className,
        method,
        Patch.onCall(
            name,
            (code, call) -> {
              Patch.pop(code, call);
              map.accept(code);
              code.getfield(MAP_CLASS, name, ConstantDescs.CD_long);
            }));
  }
}
