package io.erda.server.engine.store;

import io.erda.cleaner.LiveBytes;
import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.protocol.PutMode;
import io.erda.server.engine.events.ServiceListener;
import io.erda.server.engine.files.TableGrowthOptions;
import io.erda.server.engine.publishing.AnnouncedWords;
import io.erda.server.engine.publishing.Publication;
import io.erda.server.engine.publishing.Syncs;
import io.erda.server.engine.tables.Decisions;
import io.erda.server.engine.tables.Insertion;
import io.erda.server.engine.tables.PutCounts;
import io.erda.server.engine.tables.TableEntries;
import io.erda.server.engine.tables.TableGrowth;
import io.erda.server.engine.tables.Tables;
import io.erda.server.engine.tables.TombstoneSweep;
import java.lang.foreign.MemorySegment;

/**
 * Makes all changes of keys and values in the store of a {@link StoreEngine}, and owns that engine.
 * It publishes puts and deletes, decides announced ones, erases keys, resizes the table, and shows
 * the table to the cleaner. One thread.
 */
public final class StoreWriter implements AutoCloseable {
  private final StoreEngine engine;
  private final Tables tables;
  private final PutCounts puts = new PutCounts();

  /** Null in a store whose puts publish last. */
  private final AnnouncedWords announced;

  private final Decisions decisions;
  private final TableGrowth growth;
  private final Insertion insertion;
  private final TableEntries entries;
  private final LiveBytes live;
  private final Publication publication;

  /** Writes to a store that is not served: nobody is told, and drains are waited for. */
  public StoreWriter(StoreEngine engine, TableGrowthOptions options) {
    this(engine, options, TableGrowth.Listener.NONE, ServiceListener.NONE, Syncs.AT_ONCE);
  }

  /**
   * @param readable receives the changes of the tables that can be read; it already knows the
   *     tables that are in use now
   * @param told receives doublings and halvings
   * @param syncs waits for the device
   */
  public StoreWriter(
      StoreEngine engine,
      TableGrowthOptions options,
      TableGrowth.Listener readable,
      ServiceListener told,
      Syncs syncs) {
    this.engine = engine;
    this.tables = engine.tables();
    // Only the cleaner decides words by its view of the table; the count of live bytes does not.
    TableEntries counted = new TableEntries(tables, engine.pending(), engine.keyWords());
    this.live = new LiveBytes(engine.log(), counted);
    this.announced =
        engine.putMode() == PutMode.ANNOUNCE
            ? new AnnouncedWords(
                tables,
                engine.root(),
                engine.log(),
                engine.keyWords(),
                engine.objects(),
                puts,
                live)
            : null;
    this.decisions = announced == null ? engine.pending() : announced;
    this.entries = new TableEntries(tables, decisions, engine.keyWords());
    this.growth =
        new TableGrowth(
            engine.directory(),
            engine.root(),
            tables,
            decisions,
            new TombstoneSweep(tables, engine.objects(), puts),
            engine.leftovers(),
            engine.superblock(),
            options,
            readable,
            told);
    this.insertion = new Insertion(tables, growth, engine.objects());
    this.publication =
        new Publication(
            tables,
            insertion,
            engine.log(),
            engine.pending(),
            engine.keyWords(),
            engine.objects(),
            live,
            puts,
            engine.keyBytesMax(),
            syncs);
  }

  /**
   * The entry of the key that lies in {@code memory}, or {@link Tables#NONE}. Its word is decided,
   * unless a put will still decide it: then it is pending.
   */
  public long findDecided(long keyWord, MemorySegment memory, long keyAt, int keyLength) {
    while (true) {
      long entry = engine.find(keyWord, memory, keyAt, keyLength);
      if (entry == Tables.NONE) {
        return Tables.NONE;
      }
      long word = tables.versionWord(entry);
      if (!VersionWord.pending(word)
          || VersionWord.pending(decisions.decide(entry, keyWord, word))) {
        return entry;
      }
      // The entry may be another key's by now, or free.
      tables.drain();
    }
  }

  /** How the erasure of a key ended. */
  public enum Erasure {
    /** The key had a value, and has none now. */
    ERASED,
    /** The key had no value. */
    ABSENT,
    /** Nothing was done, because a put of this key is undecided. */
    NOT_NOW
  }

  /** Deletes a key without space in the log: its entry is emptied. For when the log is full. */
  public Erasure erase(MemorySegment memory, long keyAt, int keyLength) {
    long keyWord = engine.keyWord(memory, keyAt, keyLength);
    Erasure erasure = null;
    for (int lost = 0; erasure == null; lost++) {
      try {
        erasure = erase(keyWord, memory, keyAt, keyLength, lost);
      } finally {
        tables.unpin();
      }
    }
    return erasure;
  }

  /** Returns null when another writer has changed the key's word since it was looked up. */
  private Erasure erase(long keyWord, MemorySegment memory, long keyAt, int keyLength, int lost) {
    long entry = findDecided(keyWord, memory, keyAt, keyLength);
    if (entry == Tables.NONE) {
      return Erasure.ABSENT;
    }
    long word = tables.wordToChange(entry, lost);
    if (VersionWord.pending(word)) {
      return Erasure.NOT_NOW;
    }
    int head = Entry.headOf(keyWord);
    int committed = VersionWord.committed(word);
    if (!engine.objects().isValue(head, committed)) {
      return Erasure.ABSENT;
    }
    if (!tables.remove(entry, keyWord, word)) {
      return null;
    }
    live.replaced(entry, head, committed, VersionWord.NONE);
    return Erasure.ERASED;
  }

  /** The one publication point (rule 5). */
  public Publication publication() {
    return publication;
  }

  /** The announced words, or null in a store whose puts publish last. */
  public AnnouncedWords announced() {
    return announced;
  }

  /** Number of puts that were announced and are neither committed nor rolled back. */
  public long undecidedPuts() {
    return announced == null ? 0 : announced.undecided();
  }

  /** Makes entries for keys that have none. */
  public Insertion insertion() {
    return insertion;
  }

  /** Doubles the table when it gets full, and halves it when it is far too large; to be stepped. */
  public TableGrowth growth() {
    return growth;
  }

  /** The table, for the cleaner. */
  public TableEntries entries() {
    return entries;
  }

  /** The live bytes of each region, for the cleaner. */
  public LiveBytes live() {
    return live;
  }

  /** The puts and deletes that took effect. */
  public PutCounts puts() {
    return puts;
  }

  /**
   * Decides the announced puts whose objects are whole, makes everything durable, and closes the
   * engine. Idempotent.
   */
  @Override
  public void close() {
    try {
      engine.close(this::settle);
    } finally {
      growth.close();
    }
  }

  private void settle() {
    if (announced != null) {
      announced.close();
    }
    publication.settle();
  }
}
