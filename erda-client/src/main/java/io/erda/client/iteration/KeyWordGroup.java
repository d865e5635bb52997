package io.erda.client.iteration;

import io.erda.client.connections.RegionMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What an iteration has found behind one key word that it looks up by itself: the keys that it has
 * given, so that none is given twice, and the version words whose objects are damaged.
 *
 * <p><b>Damage.</b> No key is known that the server could be asked for. But a word that two
 * look-ups of one epoch showed named its object all the time in between, because a place in the log
 * is used once in an epoch: the object was whole when the word was stored, so one that fails its
 * check between the two is damaged.
 */
final class KeyWordGroup {
  /** How often an object must fail its check, look-up by look-up, until it is called damaged. */
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

  /** Whether a key was not given before; from now on it was. */
  boolean give(byte[] key) {
    for (byte[] each : given) {
      if (Arrays.equals(each, key)) {
        return false;
      }
    }
    given.add(key);
    return true;
  }

  /** The object that a word of a look-up with a map names failed its check. Returns how often. */
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

  /** The caller is told of damage: the object is left out from now on. */
  void leaveOut(long word) {
    damaged.add(word);
    failures = 0;
  }

  boolean isLeftOut(long word) {
    return damaged.contains(word);
  }
}
