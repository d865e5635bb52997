package io.erda.server.engine.store;

import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.server.engine.events.Events;
import io.erda.server.engine.events.RecoveryEvent;
import io.erda.server.engine.files.StopRecord;
import io.erda.server.engine.tables.KeyWords;
import io.erda.server.engine.tables.PendingWords;
import io.erda.server.engine.tables.Tables;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Scans the log between the water marks. A valid object is committed if its key's word is pending
 * and names exactly the object's place. Then the marks are closed, so that a late store of a dead
 * or stopped writer lands in space that is not leased again before the region is cleaned. Recovery
 * may be interrupted and repeated at every step.
 *
 * <p>Readers of an earlier incarnation may go on reading during recovery, so the versions that they
 * see must be as durable as while that server lived: a word is durable, at least as pending, before
 * it is committed.
 */
final class Recovery {
  private final Tables tables;
  private final PendingWords pending;
  private final LogStore log;
  private final KeyWords keyWords;

  Recovery(StoreParts parts) {
    this.tables = parts.tables();
    this.pending = parts.pending();
    this.log = parts.log();
    this.keyWords = parts.keyWords();
  }

  /**
   * Decides the versions that were published and not acknowledged.
   *
   * @param openingNotes notes for the user about earlier steps of the opening
   * @param stopped the verdict of the record of the last stop
   */
  RecoveryReport run(List<String> openingNotes, StopRecord.Verdict stopped) {
    RecoveryEvent event = Events.begin(RecoveryEvent::new);
    int[] counts = new int[2];
    long scanned =
        log.scan((region, offset, place, bytes) -> {
          counts[0]++;
          if (commitIfPending(region, offset, place, bytes)) {
            counts[1]++;
          }
        });
    // After a later power failure no word that is served from now on, and no word whose object lies
    // below the marks, may be pending again.
    tables.drain();
    log.closeMarks();
    List<String> notes = new ArrayList<>(openingNotes);
    if (stopped.state() == StopRecord.State.USELESS) {
      notes.add(stopped.words().getFirst() + "; the store is opened as one that was killed");
    }
    if (counts[1] > 0) {
      notes.add("committed " + counts[1] + " whole versions whose acknowledgement was not sent");
    }
    notes.addAll(log.notes());
    if (tables.resizing() != null) {
      notes.add(
          "the table is being "
              + (tables.halving() ? "halved" : "doubled")
              + " to "
              + tables.buckets()
              + " buckets");
    }
    if (log.cleaning().interrupted() != null) {
      Region victim = log.cleaning().interrupted().victim();
      notes.add(
          "the cleaning of region " + victim.index() + " of head " + victim.head() + " goes on");
    }
    RecoveryReport report =
        new RecoveryReport(
            scanned,
            counts[0],
            counts[1],
            log.cleaning().interrupted() != null,
            tables.resizing() != null,
            notes);
    record(event, report);
    return report;
  }

  private static void record(RecoveryEvent event, RecoveryReport recovery) {
    if (Events.wanted(event)) {
      event.bytesScanned = recovery.bytesScanned();
      event.objects = recovery.objectsSeen();
      event.committed = recovery.committed();
      event.cleaning = recovery.cleaning();
      event.doubling = recovery.resizing();
      event.commit();
    }
  }

  /**
   * The lengths are bounded by the length of the object that the scan found whole, because a
   * stopped writer may still store into these bytes.
   */
  private boolean commitIfPending(Region region, int offset, long place, int bytes) {
    MemorySegment memory = region.memory().segment();
    int keyLength = ObjectLayout.keyLength(memory, place);
    if (keyLength == 0 || ObjectLayout.bytes(keyLength, 0) > bytes) {
      return false;
    }
    long keyWord = keyWords.of(memory, place + ObjectLayout.KEY_OFFSET, keyLength);
    if (Entry.headOf(keyWord) != region.head()) {
      return false;
    }
    long entry =
        tables.find(
            keyWord, (at, word) -> VersionWord.pending(word) && VersionWord.newest(word) == offset);
    if (entry == Tables.NONE) {
      return false;
    }
    long word = tables.versionWord(entry);
    region.memory().flush(place, bytes);
    region.memory().drain();
    return pending.commit(entry, keyWord, word);
  }
}
