package io.erda.hashtable;

import io.erda.hashtable.Displacement.Intent;
import io.erda.hashtable.TableFinding.DamagedHeader;
import io.erda.hashtable.TableFinding.DamagedIntent;
import io.erda.hashtable.TableFinding.Duplicate;
import io.erda.hashtable.TableFinding.InterruptedMove;
import io.erda.hashtable.TableFinding.InterruptedRemoval;
import io.erda.hashtable.TableFinding.InterruptedStretch;
import io.erda.hashtable.TableFinding.LeftKeyWord;
import io.erda.hashtable.TableFinding.Misplaced;
import io.erda.hashtable.TableFinding.Moved;
import io.erda.hashtable.TableFinding.NoKeyWord;
import io.erda.hashtable.TableFinding.NoVersion;
import io.erda.hashtable.TableFinding.SharedKeyWord;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/** Checks every word of a table, and stores nothing. */
final class TableCheck {
  private final MemorySegment memory;
  private final Consumer<? super TableFinding> findings;
  private long buckets;
  private long slots;
  private long skipped1 = HashTable.NONE;
  private long skipped2 = HashTable.NONE;

  TableCheck(MemorySegment memory, Consumer<? super TableFinding> findings) {
    this.memory = memory;
    this.findings = findings;
  }

  void run() {
    try {
      buckets = TableLayout.checkedBuckets(memory);
    } catch (DamagedTableException e) {
      findings.accept(new DamagedHeader(e.getMessage()));
      return;
    }
    slots = TableLayout.slots(buckets);
    checkIntent();
    for (long slot = 0; slot < slots; slot++) {
      if (slot != skipped1 && slot != skipped2) {
        checkEntry(slot, TableLayout.keyWord(memory, slot), TableLayout.versionWord(memory, slot));
      }
    }
  }

  private void checkIntent() {
    try {
      Intent intent = Intent.load(memory, buckets);
      if (intent != null) {
        intent.requireReplayable(memory);
        skipped1 = intent.source();
        skipped2 = intent.destination();
        findings.accept(
            intent.emptying()
                ? new InterruptedRemoval(intent.source(), intent.keyWord(), intent.versionWord())
                : new InterruptedMove(
                    intent.source(), intent.destination(), intent.keyWord(), intent.versionWord()));
      }
      Stretch stretch = Stretch.load(memory, buckets);
      if (stretch != null) {
        findings.accept(new InterruptedStretch(stretch.first(), stretch.slots()));
      }
    } catch (DamagedTableException e) {
      findings.accept(new DamagedIntent(e.getMessage()));
    }
  }

  private void checkEntry(long slot, long keyWord, long versionWord) {
    if (versionWord == 0) {
      if (keyWord != 0) {
        findings.accept(new LeftKeyWord(slot, keyWord));
      }
      return;
    }
    if (keyWord == 0) {
      findings.accept(new NoKeyWord(slot, versionWord));
      return;
    }
    if (versionWord == VersionWord.MOVED) {
      findings.accept(new Moved(slot, keyWord));
      return;
    }
    if (VersionWord.newest(versionWord) == VersionWord.NONE) {
      findings.accept(new NoVersion(slot, keyWord, versionWord));
    }
    long home = Entry.bucket(keyWord, buckets);
    if (slot < home || slot - home >= Neighbourhood.ENTRIES) {
      findings.accept(new Misplaced(slot, keyWord, versionWord, home));
      return;
    }
    for (long other = slot + 1; other < home + Neighbourhood.ENTRIES; other++) {
      if (TableLayout.keyWord(memory, other) == keyWord && other != skipped1 && other != skipped2) {
        compare(slot, other, keyWord, versionWord, TableLayout.versionWord(memory, other));
      }
    }
  }

  private void compare(long slot, long other, long keyWord, long word, long otherWord) {
    if (otherWord == 0 || otherWord == VersionWord.MOVED) {
      return;
    }
    findings.accept(
        names(word, VersionWord.newest(otherWord)) || names(word, VersionWord.older(otherWord))
            ? new Duplicate(slot, other, keyWord, word, otherWord)
            : new SharedKeyWord(slot, other, keyWord, word, otherWord));
  }

  private static boolean names(long word, int offset) {
    return offset != VersionWord.NONE
        && (VersionWord.newest(word) == offset || VersionWord.older(word) == offset);
  }
}
