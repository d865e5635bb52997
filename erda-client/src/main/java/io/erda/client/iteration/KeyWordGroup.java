package io.erda.client.iteration;

import io.erda.client.connections.RegionMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The findings of an iteration for one key word that it looks up separately: the keys that it has
 * returned, so that none is returned twice, and the version words whose objects are damaged.
 *
 * <p><b>Damage.</b> The client can't ask the server, because the key is unknown. But a place in the
 * log is used only once in an epoch: when two look-ups of one epoch show the same word, the word
 * named its object all the time in between, and the object was whole when the word was stored. So
 * an object that fails its check between the two is damaged.
 */
final class KeyWordGroup {
  /**
   * The number of failed checks, each in another look-up, after which an object counts as damaged.
   */
  private static final int FAILURES_MAX = 4;

  private final List<byte[]> given = new ArrayList<>();
  private final List<Long> damaged = new ArrayList<>();
  private boolean open;
  private long keyWord;
  private long suspect;
  private long suspectEpoch;
  private long suspectIncarnation;
  private int failures;

  void open(long ofKeyWord) {
    open = true;
    keyWord = ofKeyWord;
    given.clear();
    damaged.clear();
    failures = 0;
  }

  void close() {
    open = false;
  }

  boolean isOpen() {
    return open;
  }

  long keyWord() {
    return keyWord;
  }

  /** Notes a key that is about to be returned. Returns whether this is the first time. */
  boolean give(byte[] key) {
    for (byte[] each : given) {
      if (Arrays.equals(each, key)) {
        return false;
      }
    }
    given.add(key);
    return true;
  }

  /**
   * Notes that the object of a word, looked up with a map, failed its check. Returns how often it
   * has failed.
   */
  int fails(long word, RegionMap map) {
    boolean again =
        failures > 0
            && word == suspect
            && map.epoch == suspectEpoch
            && map.incarnation == suspectIncarnation;
    suspect = word;
    suspectEpoch = map.epoch;
    suspectIncarnation = map.incarnation;
    failures = again ? failures + 1 : 1;
    return failures;
  }

  /** Whether the object that has just failed its check is damaged. */
  boolean isDamage() {
    return failures >= FAILURES_MAX;
  }

  /** Skips an object from now on; called when the caller is told of its damage. */
  void leaveOut(long word) {
    damaged.add(word);
    failures = 0;
  }

  boolean isLeftOut(long word) {
    return damaged.contains(word);
  }
}
