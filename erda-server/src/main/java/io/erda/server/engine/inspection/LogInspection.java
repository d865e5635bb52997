package io.erda.server.engine.inspection;

import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.logstore.WholeObjects;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.tables.StoredObjects;
import io.erda.server.engine.tables.Tables;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Checks whether an entry names each whole object of the log. An object without an entry is no
 * damage by itself: it was replaced, deleted, or never published. But an entry that was lost, or
 * fell back to an older version, leaves the same trace, and in a store that was not stopped cleanly
 * it leaves no other trace. So in such a store two findings are doubts:
 *
 * <ul>
 *   <li>a key without entry whose last object is a value;
 *   <li>a key that has another whole object after the object that readers find, in the order of
 *       region generation and place. Clients store concurrently, and cleaning moves objects, so the
 *       last object need not be the newest.
 * </ul>
 */
final class LogInspection {
  /** The most keys that are kept for each kind of doubt. */
  private static final int KEYS_MAX = 1 << 18;

  private record Last(byte[] key, boolean tombstone, Region region, long place) {}

  private final StoreEngine engine;
  private final Findings findings;
  private final Unnamed unnamed;
  private final boolean doubting;

  /** By key word, the last object that was seen so far of each key without an entry. */
  private final Map<Long, Last> withoutEntry = new LinkedHashMap<>();

  /** Key words with a doubt about another object. */
  private final Set<Long> doubted = new HashSet<>();

  private boolean tooMany;

  LogInspection(StoreEngine engine, Findings findings, Unnamed unnamed, boolean doubting) {
    this.engine = engine;
    this.findings = findings;
    this.unnamed = unnamed;
    this.doubting = doubting;
  }

  void run(InspectionProgress progress) {
    WholeObjects objects = new WholeObjects(engine.log().linked(), this::look);
    do {
      progress.at("bytes of the log", objects.looked(), objects.bytes());
    } while (objects.doWork());
    withoutEntry
        .values()
        .forEach(last -> {
          if (!last.tombstone) {
            findings.doubtful(
                last.key,
                "no entry names it, and an object of it lies in the log: deleted, never published,"
                    + " or lost "
                    + where(last.region, last.place));
          }
        });
    if (tooMany) {
      findings.doubtful(null, "more keys are in doubt than are told here");
    }
  }

  private void look(Region region, int offset, long place, int bytes) {
    MemorySegment memory = region.memory().segment();
    int keyLength = ObjectLayout.keyLength(memory, place);
    long keyWord = engine.keyWord(memory, place + ObjectLayout.KEY_OFFSET, keyLength);
    if (unnamed.wants(keyWord)) {
      unnamed.named(keyWord, StoredObjects.key(memory, place));
    }
    if (!doubting || Entry.headOf(keyWord) != region.head()) {
      return;
    }
    long entry = engine.find(keyWord, memory, place + ObjectLayout.KEY_OFFSET, keyLength);
    if (entry == Tables.NONE) {
      lookAtLost(keyWord, region, place);
    } else if (engine.tables().keyWord(entry) == keyWord) {
      lookAtLater(engine.tables().versionWord(entry), keyWord, region, offset, bytes);
    }
  }

  private void lookAtLost(long keyWord, Region region, long place) {
    Last before = withoutEntry.get(keyWord);
    if (before == null && withoutEntry.size() >= KEYS_MAX) {
      tooMany = true;
    } else if (before == null || isBehind(region, place, before.region, before.place)) {
      MemorySegment memory = region.memory().segment();
      withoutEntry.put(
          keyWord,
          new Last(
              StoredObjects.key(memory, place),
              ObjectLayout.tombstone(memory, place),
              region,
              place));
    }
  }

  private void lookAtLater(long word, long keyWord, Region region, int offset, int bytes) {
    int committed = VersionWord.committed(word);
    LogGeometry geometry = engine.log().geometry();
    Region named = engine.log().region(region.head(), committed);
    if (offset == committed
        || named == null
        || !engine.objects().valid(region.head(), committed)
        || !isBehind(region, geometry.place(offset), named, geometry.place(committed))
        || isSame(region, geometry.place(offset), named, geometry.place(committed), bytes)) {
      return;
    }
    if (doubted.size() >= KEYS_MAX) {
      tooMany = true;
    } else if (doubted.add(keyWord)) {
      findings.doubtful(
          StoredObjects.key(region.memory().segment(), geometry.place(offset)),
          "its newest version "
              + where(named, geometry.place(committed))
              + " has another object of it behind it "
              + where(region, geometry.place(offset))
              + ": stored side by side with it, never published, or newer");
    }
  }

  private static boolean isBehind(Region region, long place, Region named, long namedPlace) {
    return region == named ? place > namedPlace : region.generation() > named.generation();
  }

  /** Whether one object is a copy of the other, apart from the checksum. */
  private static boolean isSame(
      Region region, long place, Region named, long namedPlace, int bytes) {
    long from = ObjectLayout.VALUE_LENGTH_OFFSET;
    return namedPlace + bytes <= named.memory().segment().byteSize()
        && MemorySegment.mismatch(
                region.memory().segment(),
                place + from,
                place + bytes,
                named.memory().segment(),
                namedPlace + from,
                namedPlace + bytes)
            == -1;
  }

  private static String where(Region region, long place) {
    return "(region %d generation %d, byte %d)"
        .formatted(region.slot(), region.generation(), place);
  }
}
