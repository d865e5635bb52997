package io.erda.testbed;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The keys that an {@link Actor} read from a store after a cut, compared with the acknowledged
 * versions.
 */
final class KeysRead {
  private final Map<Integer, Long> read = new HashMap<>();

  /** Takes a line of the actor; lines that are not about a key are skipped. */
  void line(String line) {
    String[] words = line.split(" ", 4);
    if (line.startsWith("@ R ")) {
      read.put(Integer.valueOf(words[2]), Long.valueOf(words[3]));
    } else if (line.startsWith("@ D ")) {
      read.put(Integer.valueOf(words[2]), Value.WRONG);
    }
  }

  /** Counts the keys that lost an acknowledged version; reports each as a problem, in one line. */
  int judge(Ledger.Claim claim, Consumer<String> problem) {
    int lost = 0;
    for (Map.Entry<Integer, Long> each : new TreeMap<>(claim.versions()).entrySet()) {
      int key = each.getKey();
      Long version = read.get(key);
      String is = null;
      if (version == null) {
        is = Value.isDeletedAtTimes(key) ? null : "absent";
      } else if (version == Value.WRONG) {
        is = "damaged";
      } else if (version < each.getValue()) {
        is = "version " + version;
      }
      if (is != null) {
        lost++;
        problem.accept(
            "key-" + key + " is " + is + ", acknowledged was version " + each.getValue());
      }
    }
    return lost;
  }
}
