package io.erda.server.engine.publishing;

import io.erda.cleaner.LiveBytes;
import io.erda.hashtable.Entry;
import io.erda.hashtable.KeyProbe;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.pmem.MemoryGuard;
import io.erda.pmem.PersistentMemory;
import io.erda.server.engine.files.RootFile;
import io.erda.server.engine.tables.Decisions;
import io.erda.server.engine.tables.KeyWords;
import io.erda.server.engine.tables.PutCounts;
import io.erda.server.engine.tables.StoredObjects;
import io.erda.server.engine.tables.Tables;
import java.io.UncheckedIOException;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The pending words of a store whose puts announce first: the word names a place before its object
 * is there (Erda paper, sections 3.3 and 4.2; decision "Announce first").
 *
 * <p>In such a store readers examine the newest version of a pending word, and accept it when its
 * object is whole. So a whole object must never be rolled back. Committing a word needs no
 * precautions. Rolling back a word needs a <em>judgement</em>, during which no reader accepts a
 * result that depends on a pending word. Readers detect it by the structure counter, as they detect
 * that entries are moved.
 *
 * <p>A word is live as long as it has an announcement. Its writer is fenced, by the end of its
 * connection, before the word is judged. One thread.
 */
public final class AnnouncedWords implements Decisions {
  /**
   * How long a client may take to write the announced object, when another operation needs the
   * word.
   */
  public static final long WANTED_NS = 100_000_000;

  /**
   * How long a client may take to write the announced object, when no other operation needs the
   * word.
   */
  public static final long UNWANTED_NS = 1_000_000_000;

  /** How often announced puts are checked. Puts whose object is whole are committed. */
  public static final long LOOK_NS = 1_000_000;

  private final Tables tables;
  private final RootFile root;
  private final LogStore log;
  private final KeyWords keyWords;
  private final StoredObjects objects;
  private final PutCounts counts;
  private final MemoryGuard faults = new MemoryGuard();
  private final NamedPlace probe = new NamedPlace();

  /** Announcements by head and offset, the oldest first. */
  private final Map<Long, Announcement> live = new LinkedHashMap<>();

  /** The announced puts whose objects {@link #doWork} found whole. */
  private final List<Announcement> whole = new ArrayList<>();

  private final LiveBytes liveBytes;

  /** The time of the next check by {@link #doWork}; meaningless while no word is live. */
  private long nextLookNs;

  private long rolledBack;
  private long fenced;

  public AnnouncedWords(
      Tables tables,
      RootFile root,
      LogStore log,
      KeyWords keyWords,
      StoredObjects objects,
      PutCounts counts,
      LiveBytes liveBytes) {
    this.tables = tables;
    this.root = root;
    this.log = log;
    this.keyWords = keyWords;
    this.objects = objects;
    this.counts = counts;
    this.liveBytes = liveBytes;
  }

  @Override
  public boolean anyLive() {
    return !live.isEmpty();
  }

  /** The number of undecided announcements. */
  public long undecided() {
    return live.size();
  }

  /** The number of versions that were rolled back because their objects never became whole. */
  public long rolledBack() {
    return rolledBack;
  }

  /**
   * The number of clients that were disconnected because they did not write an announced object.
   */
  public long fenced() {
    return fenced;
  }

  /** Notes an announcement: a word was stored that names an object which is not written yet. */
  public void announced(Announcement announcement) {
    if (live.isEmpty()) {
      nextLookNs = announcement.sinceNs + LOOK_NS;
    }
    Announcement before = live.put(key(announcement.head(), announcement.offset), announcement);
    assert before == null : "offset " + announcement.offset + " was announced twice";
    announcement.reservation.undecided++;
  }

  private static long key(int head, int offset) {
    return (long) head << 32 | offset;
  }

  @Override
  public long decide(long entry, long keyWord, long word) {
    if (!VersionWord.pending(word)) {
      return word;
    }
    int head = Entry.headOf(keyWord);
    int offset = VersionWord.newest(word);
    Announcement announcement = live.get(key(head, offset));
    if (announcement == null) {
      return judge(entry, keyWord, word);
    }
    if (makeDurable(keyWord, offset)) {
      tables.drain();
      long committed = commit(entry, keyWord, word);
      remove(announcement);
      return committed;
    }
    announcement.wanted = true;
    return word;
  }

  /**
   * Handles a reader's report that the object of a pending word is not whole. Decides the word,
   * unless it is live or no longer stored.
   */
  public void reported(long keyWord, int offset) {
    long entry = find(keyWord, offset);
    if (entry != Tables.NONE) {
      decide(entry, keyWord, tables.versionWord(entry));
    }
  }

  /**
   * Commits the puts whose objects are whole, and disconnects clients that take too long. Returns
   * how many puts were committed.
   */
  public int doWork(long nowNs) {
    if (live.isEmpty() || nowNs - nextLookNs < 0) {
      return 0;
    }
    nextLookNs = nowNs + LOOK_NS;
    for (Announcement each : live.values()) {
      long ageNs = nowNs - each.sinceNs;
      if (ageNs >= LOOK_NS && flush(each.keyWord, each.offset)) {
        whole.add(each);
      } else if (ageNs >= (each.wanted ? WANTED_NS : UNWANTED_NS)) {
        each.announcer.giveUp();
        fenced++;
      }
    }
    return commitWhole();
  }

  /** Commits the puts whose objects were flushed. Returns how many. */
  private int commitWhole() {
    if (whole.isEmpty()) {
      return 0;
    }
    int count = whole.size();
    try {
      for (Announcement each : whole) {
        region(each.head(), each.offset).memory().drain();
      }
      tables.drain();
      for (Announcement each : whole) {
        long entry = find(each.keyWord, each.offset);
        commit(entry, each.keyWord, tables.versionWord(entry));
        remove(each);
      }
    } finally {
      whole.clear();
    }
    return count;
  }

  /**
   * Decides the announcements of a client that is gone and whose connection is closed, so that no
   * later WRITE of it is acknowledged.
   */
  public void left(Requester announcer) {
    List<Announcement> its = new ArrayList<>();
    for (Iterator<Announcement> each = live.values().iterator(); each.hasNext(); ) {
      Announcement announcement = each.next();
      if (announcement.announcer == announcer) {
        each.remove();
        its.add(announcement);
      }
    }
    for (Announcement each : its) {
      each.reservation.undecided--;
      long entry = find(each.keyWord, each.offset);
      judge(entry, each.keyWord, tables.versionWord(entry));
      announcer.decided(each.reservation);
    }
  }

  /**
   * Commits the puts whose objects are whole, because the store is being closed in order. Then
   * every acknowledged put is a committed version.
   */
  public void close() {
    for (Announcement each : live.values()) {
      if (flush(each.keyWord, each.offset)) {
        whole.add(each);
      }
    }
    commitWhole();
  }

  /**
   * Returns the entry whose pending word names the place as its newest version; NONE when there is
   * no such entry.
   */
  private long find(long keyWord, int offset) {
    probe.offset = offset;
    return tables.find(keyWord, probe);
  }

  private void remove(Announcement announcement) {
    live.remove(key(announcement.head(), announcement.offset));
    announcement.reservation.undecided--;
    announcement.announcer.decided(announcement.reservation);
  }

  /**
   * Decides a word whose writer is gone. A reader that accepts the object has seen the counter
   * unchanged even after it loaded the object, so it loaded it before the validation here.
   * REQUIRES: its writer is fenced.
   */
  private long judge(long entry, long keyWord, long word) {
    root.beginMove();
    // The odd counter must be visible before the object is loaded.
    VarHandle.fullFence();
    try {
      Long decided = faults.find(this, words -> words.commitOrRollBack(entry, keyWord, word));
      root.endMove();
      if (decided == null) {
        throw faults.fault();
      }
      return decided;
    } catch (UncheckedIOException e) {
      root.endMove();
      throw e;
    }
  }

  /**
   * Decides a word. When the device fails or is full, or the object's file was shortened, the word
   * is either unchanged or decided. The next opening decides it if necessary, and readers go on
   * until then.
   */
  private long commitOrRollBack(long entry, long keyWord, long word) {
    if (makeDurable(keyWord, VersionWord.newest(word))) {
      tables.drain();
      return commit(entry, keyWord, word);
    }
    return rollBack(entry, keyWord, word);
  }

  private long rollBack(long entry, long keyWord, long word) {
    if (!tables.rollback(entry, keyWord, word)) {
      throw new IllegalStateException("entry " + entry + " changed while it was judged");
    }
    rolledBack++;
    return tables.versionWord(entry);
  }

  /** REQUIRES: the object is whole and durable, and the word durable as pending. */
  private long commit(long entry, long keyWord, long word) {
    long committed = VersionWord.commit(word);
    if (!tables.storeWord(entry, keyWord, word, committed)) {
      throw new IllegalStateException("entry " + entry + " changed before its commit");
    }
    int head = Entry.headOf(keyWord);
    int offset = VersionWord.newest(word);
    liveBytes.replaced(entry, head, VersionWord.older(word), offset);
    counts.add(!objects.isValue(head, offset), objects.bytes(head, offset));
    return committed;
  }

  /** Makes an object durable. Returns false when no whole object of the key lies there. */
  private boolean makeDurable(long keyWord, int offset) {
    if (!flush(keyWord, offset)) {
      return false;
    }
    region(Entry.headOf(keyWord), offset).memory().drain();
    return true;
  }

  private boolean flush(long keyWord, int offset) {
    int head = Entry.headOf(keyWord);
    if (!objects.valid(head, offset)) {
      return false;
    }
    PersistentMemory memory = region(head, offset).memory();
    long place = log.geometry().place(offset);
    int bytes = objects.bytes(head, offset);
    // A disconnected writer may still store there, so the lengths are bounded.
    int keyLength = ObjectLayout.keyLength(memory.segment(), place);
    if (keyLength == 0
        || ObjectLayout.bytes(keyLength, 0) > bytes
        || keyWords.of(memory.segment(), place + ObjectLayout.KEY_OFFSET, keyLength) != keyWord) {
      return false;
    }
    memory.flush(place, bytes);
    return true;
  }

  private Region region(int head, int offset) {
    return log.region(head, offset);
  }

  private static final class NamedPlace implements KeyProbe {
    private int offset;

    @Override
    public boolean matches(long slot, long word) {
      return VersionWord.pending(word) && VersionWord.newest(word) == offset;
    }
  }
}
