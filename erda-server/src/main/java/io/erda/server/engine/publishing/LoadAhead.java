package io.erda.server.engine.publishing;

import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.protocol.Result;
import io.erda.server.engine.tables.Tables;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Loads the memory that a batch will need soon, for all its requests together, so that the cache
 * misses overlap. The loaded values are not used. One thread; allocates nothing, unless a batch is
 * larger than any before.
 */
final class LoadAhead {
  private final Tables tables;
  private final LogStore log;
  private long[] keyWords = new long[64];

  /** The sum of the loaded words. Without this use the compiler would remove the loads. */
  @SuppressWarnings("unused")
  private long loaded;

  LoadAhead(Tables tables, LogStore log) {
    this.tables = tables;
    this.log = log;
  }

  /** Loads the beginnings and ends of the requests' objects, which another core has just stored. */
  void objects(PublishRequest[] requests, int count) {
    long words = 0;
    for (int i = 0; i < count; i++) {
      MemorySegment memory = requests[i].region().memory().segment();
      long place = requests[i].place;
      long end = place + ObjectLayout.padded(requests[i].bytes);
      words +=
          ObjectLayout.firstWord(memory, place)
              + ObjectLayout.firstWord(memory, end - ObjectLayout.ALIGNMENT);
    }
    loaded = words;
  }

  /**
   * Loads the entries of requests, and then the beginnings of the objects that these entries name
   * and that are about to be replaced. REQUIRES: each request that is not refused has a key word.
   */
  void replaced(PublishRequest[] requests, int count) {
    if (keyWords.length < count) {
      keyWords = Arrays.copyOf(keyWords, 2 * count);
    }
    int keys = 0;
    for (int i = 0; i < count; i++) {
      if (requests[i].result == Result.OK) {
        keyWords[keys++] = requests[i].keyWord;
      }
    }
    tables.findSoon(keyWords, keys);
    long words = 0;
    for (int i = 0; i < keys; i++) {
      words += firstWordOfReplaced(keyWords[i]);
    }
    loaded = words;
  }

  private long firstWordOfReplaced(long keyWord) {
    int offset = VersionWord.committed(tables.likelyWord(keyWord));
    if (offset == VersionWord.NONE) {
      return 0;
    }
    Region region = log.region(Entry.headOf(keyWord), offset);
    return region == null
        ? 0
        : ObjectLayout.firstWord(region.memory().segment(), log.geometry().place(offset));
  }
}
