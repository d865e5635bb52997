package io.erda.testbed;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The versions that the guest reported as acknowledged, with the promise. Thread-safe: the thread
 * that reads the serial port adds lines, the one that cuts the power asks for claims.
 *
 * <p>Lines of the guest begin with {@code @}: {@code P client promise} (sent at connect), {@code A
 * client key version} (a put or a delete was acknowledged), {@code S promise} (a store was opened),
 * {@code D key message} (a live store called a key damaged), {@code N note}, {@code F message} (a
 * typed error ended an actor), {@code X error} (an untyped one), {@code E} (a clean end). A server
 * prints its usual line when it serves.
 */
final class Ledger {
  private final Map<Integer, Long> required = new HashMap<>();
  private final Map<Integer, Long> unpromised = new HashMap<>();
  private final Map<Integer, Boolean> power = new HashMap<>();
  private final List<String> trouble = new ArrayList<>();
  private boolean everPower;
  private long acknowledged;

  /**
   * The versions that a cut at this moment must not lose.
   *
   * @param versions the least version that each key must have
   * @param power whether the store was ever opened with the promise to survive power failure
   */
  record Claim(Map<Integer, Long> versions, boolean power) {}

  synchronized void line(String line) {
    if (line.startsWith("serving ")) {
      opened(line.contains("promise: power"));
    }
    if (!line.startsWith("@ ")) {
      return;
    }
    String[] words = line.split(" ", 5);
    switch (words[1]) {
      case "S" -> opened(words[2].equals("POWER"));
      case "P" -> power.put(Integer.valueOf(words[2]), words[3].equals("POWER"));
      case "A" -> acknowledged(words);
      case "X" -> trouble.add(line);
      // A store without the promise may have been damaged by an earlier cut.
      case "D" -> trouble.addAll(everPower ? List.of(line) : List.of());
      default -> {}
    }
  }

  private void acknowledged(String[] words) {
    int key = Integer.parseInt(words[3]);
    long version = Long.parseLong(words[4]);
    acknowledged++;
    boolean promised = power.getOrDefault(Integer.valueOf(words[2]), false);
    (promised ? required : unpromised).merge(key, version, Math::max);
  }

  /** Notes an opening. Opening a store with the promise first makes all its data durable. */
  private void opened(boolean withPower) {
    if (withPower) {
      everPower = true;
      unpromised.forEach((key, version) -> required.merge(key, version, Math::max));
      unpromised.clear();
    }
  }

  /** Notes that the power failed: versions without the promise may be lost. */
  synchronized void powerFailed() {
    unpromised.clear();
    power.clear();
  }

  synchronized Claim claim() {
    return new Claim(Map.copyOf(required), everPower);
  }

  /** Returns and clears the lines that the guest must never print. */
  synchronized List<String> takeTrouble() {
    List<String> all = List.copyOf(trouble);
    trouble.clear();
    return all;
  }

  synchronized long acknowledged() {
    return acknowledged;
  }
}
