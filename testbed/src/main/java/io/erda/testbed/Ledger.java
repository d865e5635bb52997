package io.erda.testbed;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the guest said was acknowledged, and under which promise. Thread-safe: the thread that reads
 * the serial port tells it, the one that cuts the power asks.
 *
 * <p>Lines of the guest begin with {@code @}: {@code P client promise} (told at connect), {@code A
 * client key version} (a put or a delete was acknowledged), {@code S promise} (a store was opened),
 * {@code D key message} (a live store called a key damaged), {@code N note}, {@code F message} (a
 * typed error ended an actor), {@code X error} (an untyped one), {@code E} (a clean end). A server
 * says its own line when it serves.
 */
final class Ledger {
  private final Map<Integer, Long> required = new HashMap<>();
  private final Map<Integer, Long> unpromised = new HashMap<>();
  private final Map<Integer, Boolean> power = new HashMap<>();
  private final List<String> trouble = new ArrayList<>();
  private boolean everPower;
  private long acknowledged;

  /**
   * What a cut at this moment must not lose.
   *
   * @param versions for each key the least version that must be there
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
      // A store without the promise may be damaged by the cut before.
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

  /** A run that opens a store with the promise first makes durable all that is there. */
  private void opened(boolean withPower) {
    if (withPower) {
      everPower = true;
      unpromised.forEach((key, version) -> required.merge(key, version, Math::max));
      unpromised.clear();
    }
  }

  /** The power failed: what had no promise may be gone. */
  synchronized void powerFailed() {
    unpromised.clear();
    power.clear();
  }

  synchronized Claim claim() {
    return new Claim(Map.copyOf(required), everPower);
  }

  /** What the guest said that it should never say; empties it. */
  synchronized List<String> takeTrouble() {
    List<String> all = List.copyOf(trouble);
    trouble.clear();
    return all;
  }

  synchronized long acknowledged() {
    return acknowledged;
  }
}
