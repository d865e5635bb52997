package io.erda.simulation.system;

import io.erda.hashtable.VersionWord;
import io.erda.protocol.Commits;
import io.erda.server.engine.files.StoreFiles;
import io.erda.simulation.SimulatedDisk;
import java.lang.foreign.MemorySegment;

/**
 * The records of clients that are within a commit, as the file of commits has them: each names a
 * word that a client may replace at any time.
 */
final class StandingRecords {
  private final SimulatedDisk disk;

  StandingRecords(SimulatedDisk disk) {
    this.disk = disk;
  }

  /** Whether a client may replace the word of a slot by a commit, if it finds that word there. */
  boolean expect(String table, long slot, long word) {
    MemorySegment memory = disk.image(Commits.FILE);
    if (memory == null || !Commits.isValid(memory)) {
      return false;
    }
    for (int i = 0; i < Commits.LINES; i++) {
      long line = Commits.line(i);
      if (Commits.load(memory, line + Commits.SERIAL) != 0
          && Commits.load(memory, line + Commits.SLOT) == slot
          && Commits.load(memory, line + Commits.EXPECTED) == word
          && StoreFiles.table((int) Commits.load(memory, line + Commits.TABLE)).equals(table)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether a change ends a commit of a client that was stopped: the word has the same meaning, and
   * no client expects it.
   */
  boolean isDefeat(String table, long slot, long word, long next) {
    return isSame(word, next) && expect(table, slot, word) && !expect(table, slot, next);
  }

  private static boolean isSame(long word, long next) {
    if (VersionWord.pending(word) || VersionWord.newest(word) == VersionWord.NONE) {
      return false;
    }
    for (int i = 0; i < VersionWord.sameMax(); i++) {
      if (VersionWord.same(word, i) == next) {
        return true;
      }
    }
    return false;
  }
}
