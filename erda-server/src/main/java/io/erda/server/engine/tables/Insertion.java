package io.erda.server.engine.tables;

import io.erda.hashtable.Entry;
import io.erda.hashtable.HashTable;
import io.erda.hashtable.VersionWord;
import io.erda.protocol.Result;

/**
 * Makes entries for keys that have none, and makes room for these entries. One thread. Allocates
 * nothing.
 */
public final class Insertion {
  private final Tables tables;
  private final TableGrowth growth;
  private final StoredObjects objects;

  public Insertion(Tables tables, TableGrowth growth, StoredObjects objects) {
    this.tables = tables;
    this.growth = growth;
    this.objects = objects;
  }

  /**
   * Makes an entry. Returns it, or {@link Tables#NONE} when there is no room: then call {@link
   * #makeRoom} and look the key up again.
   */
  public long insert(long keyWord, long word) {
    long entry = tables.insert(keyWord, word);
    if (entry == Tables.NONE && dropTombstone(keyWord)) {
      entry = tables.insert(keyWord, word);
    }
    return entry;
  }

  /**
   * Takes a step to make room. Returns false when no step is possible; {@link #refusal} has the
   * reason.
   */
  public boolean makeRoom(long keyWord) {
    return growth.makeRoom(keyWord);
  }

  /** The result of a put whose key gets no entry, because table or bucket has no room. */
  public int refusal(long keyWord) {
    if (!growth.makesRoom() && tables.isBucketFull(keyWord)) {
      return Result.BUCKET_FULL;
    }
    if (growth.diskFull()) {
      return Result.DISK_FULL;
    }
    return growth.makesRoom() || growth.waitsForLive() ? Result.NOT_NOW : Result.TABLE_FULL;
  }

  /** Returns the text for a {@link #refusal}; empty when the result needs none. */
  public String reason(int refusal) {
    return switch (refusal) {
      case Result.DISK_FULL -> growth.whyPutOff();
      case Result.NOT_NOW -> "the hash table is full, and is about to be a larger one";
      default -> "";
    };
  }

  /** Returns what is full when a result {@linkplain #isRefusal is a refusal}. */
  public static String full(int refusal) {
    return switch (refusal) {
      case Result.DISK_FULL -> "DISK";
      case Result.BUCKET_FULL -> "BUCKET";
      default -> "TABLE";
    };
  }

  /** Whether a result says that there is no room for an entry. */
  public static boolean isRefusal(int result) {
    return result == Result.TABLE_FULL
        || result == Result.BUCKET_FULL
        || result == Result.DISK_FULL;
  }

  /**
   * Empties the first entry of a neighbourhood whose key was deleted, which leaves the key absent.
   * An entry whose object is not whole stays, because the object may be damaged.
   */
  private boolean dropTombstone(long keyWord) {
    Tables.Generation into = tables.next() == null ? tables.current() : tables.next();
    HashTable table = into.table();
    long home = Entry.bucket(keyWord, table.buckets());
    for (long slot = home; slot < home + HashTable.neighbourhood(); slot++) {
      long word = table.versionWord(slot);
      int head = Entry.headOf(table.keyWord(slot));
      if (word != 0
          && !VersionWord.pending(word)
          && objects.isTombstone(head, VersionWord.newest(word))
          && table.empty(slot, table.keyWord(slot), word)) {
        table.drain();
        return true;
      }
    }
    return false;
  }
}
