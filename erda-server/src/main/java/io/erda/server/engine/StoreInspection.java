package io.erda.server.engine;

import io.erda.hashtable.Entry;
import io.erda.hashtable.TableFinding;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Optional;

/**
 * Looks at every entry of an opened store and at the objects it names. Changes nothing. One thread,
 * the engine's.
 *
 * <p>Finds: objects whose checksum is wrong, keys that do not belong to their entry, older versions
 * that are not whole, entries outside their neighbourhood, a key with two entries, half entries, an
 * odd structure counter. While the table is doubled, in both tables and across them.
 */
public final class StoreInspection {
  /** Told what is wrong. */
  public interface Findings {
    /**
     * One finding.
     *
     * @param key of the object, or null where it can't be told
     */
    void found(byte[] key, String what);
  }

  private final StoreEngine engine;
  private final Findings findings;
  private long entries;
  private long values;
  private long tombstones;

  public StoreInspection(StoreEngine engine, Findings findings) {
    this.engine = engine;
    this.findings = findings;
  }

  /** Entries in use. */
  public long entries() {
    return entries;
  }

  /** Keys whose newest version is a whole value. */
  public long values() {
    return values;
  }

  /** Deleted keys whose entry is still there. */
  public long tombstones() {
    return tombstones;
  }

  /** Looks at everything. */
  public void run() {
    if ((engine.root().structureCounter() & 1) != 0) {
      findings.found(null, "structure counter is odd: " + engine.root().structureCounter());
    }
    for (Tables.Generation generation : engine.tables().inUse()) {
      boolean old = engine.tables().next() != null && generation == engine.tables().current();
      generation
          .table()
          .check(finding -> {
            if (finding.damage() || (finding instanceof TableFinding.Moved && !old)) {
              findings.found(null, finding.message());
            }
          });
    }
    engine.tables().forEach(this::inspect);
  }

  private void inspect(long slot, long keyWord, long word) {
    entries++;
    if (keyWord == 0 || Entry.headOf(keyWord) >= engine.log().geometry().heads()) {
      return;
    }
    int head = Entry.headOf(keyWord);
    int committed = VersionWord.committed(word);
    if (committed != VersionWord.NONE) {
      inspectNewest(slot, keyWord, head, committed);
    }
    int older = VersionWord.older(word);
    if (older != VersionWord.NONE && older != committed && !engine.objectValid(head, older)) {
      findings.found(
          keyAt(head, older, keyWord).orElse(null),
          describe(slot, head, older, "older version is damaged"));
    }
  }

  private void inspectNewest(long slot, long keyWord, int head, int offset) {
    Region region = engine.log().region(head, offset);
    if (region == null) {
      findings.found(null, describe(slot, head, offset, "no region is linked there"));
      return;
    }
    long place = engine.log().geometry().place(offset);
    MemorySegment memory = region.memory().segment();
    if (!engine.objectValid(head, offset)) {
      findings.found(
          keyAt(head, offset, keyWord).orElse(null),
          describe(slot, head, offset, "object is damaged"));
      return;
    }
    int keyLength = ObjectLayout.keyLength(memory, place);
    long keyAt = place + ObjectLayout.KEY_OFFSET;
    if (engine.keyWord(memory, keyAt, keyLength) != keyWord) {
      findings.found(
          bytes(memory, keyAt, keyLength),
          describe(slot, head, offset, "object belongs to another key"));
      return;
    }
    if (ObjectLayout.tombstone(memory, place)) {
      tombstones++;
    } else {
      values++;
    }
    requireOnlyEntry(slot, keyWord, memory, keyAt, keyLength);
  }

  private void requireOnlyEntry(
      long slot, long keyWord, MemorySegment memory, long keyAt, int keyLength) {
    int[] found = new int[1];
    engine
        .tables()
        .find(
            keyWord,
            (other, word) -> {
              if (isOf(keyWord, word, memory, keyAt, keyLength)) {
                found[0]++;
              }
              return false;
            });
    if (found[0] > 1) {
      findings.found(
          bytes(memory, keyAt, keyLength),
          "key has " + found[0] + " entries, one in slot " + Tables.slot(slot));
    }
  }

  /** Whether the newest committed object of an entry has this key. */
  private boolean isOf(long keyWord, long word, MemorySegment memory, long keyAt, int keyLength) {
    int offset = VersionWord.committed(word);
    Region region = engine.log().region(Entry.headOf(keyWord), offset);
    long place = engine.log().geometry().place(offset);
    return region != null
        && ObjectLayout.bytes(keyLength, 0) <= engine.log().geometry().room(place)
        && ObjectLayout.keyEquals(region.memory().segment(), place, memory, keyAt, keyLength);
  }

  private String describe(long slot, int head, int offset, String what) {
    Region region = engine.log().region(head, offset);
    return "%s (slot %d, head %d, region %s, byte %d)"
        .formatted(
            what,
            Tables.slot(slot),
            head,
            region == null ? "none" : region.slot() + " generation " + region.generation(),
            engine.log().geometry().place(offset));
  }

  /**
   * The key of a damaged object, as its entry's key word proves it: as stored, or with another
   * length, or with one other byte. With 56 bits of tag a match by accident is out of the question.
   */
  private Optional<byte[]> keyAt(int head, int offset, long keyWord) {
    Region region = engine.log().region(head, offset);
    if (region == null) {
      return Optional.empty();
    }
    long place = engine.log().geometry().place(offset);
    MemorySegment memory = region.memory().segment();
    int room =
        (int)
            Math.min(
                engine.keyBytesMax(),
                engine.log().geometry().room(place) - ObjectLayout.KEY_OFFSET);
    byte[] bytes = bytes(memory, place + ObjectLayout.KEY_OFFSET, Math.max(room, 0));
    MemorySegment view = MemorySegment.ofArray(bytes);
    int stored = ObjectLayout.keyLength(memory, place);
    if (stored > 0 && stored <= room && engine.keyWord(view, 0, stored) == keyWord) {
      return Optional.of(Arrays.copyOf(bytes, stored));
    }
    for (int length = 1; length <= room; length++) {
      if (engine.keyWord(view, 0, length) == keyWord) {
        return Optional.of(Arrays.copyOf(bytes, length));
      }
    }
    for (int at = 0; stored <= room && at < stored; at++) {
      byte damaged = bytes[at];
      for (int difference = 1; difference < 256; difference++) {
        bytes[at] = (byte) (damaged ^ difference);
        if (engine.keyWord(view, 0, stored) == keyWord) {
          return Optional.of(Arrays.copyOf(bytes, stored));
        }
      }
      bytes[at] = damaged;
    }
    return Optional.empty();
  }

  private static byte[] bytes(MemorySegment memory, long at, int length) {
    return memory.asSlice(at, length).toArray(ValueLayout.JAVA_BYTE);
  }
}
