package io.erda.testbed;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class KeysReadTest {
  private final KeysRead keys = new KeysRead();
  private final List<String> problems = new ArrayList<>();

  @Test
  void aKeyMayBeNewerAndADeletedOneAbsent() {
    List.of("@ R 100000 9", "@ R 100001 5", "@ S POWER").forEach(keys::line);
    assertEquals(0, judge(Map.of(100_000, 8L, 100_001, 5L, 100_007, 3L)));
  }

  @Test
  void aKeyThatIsOlderAbsentOrDamagedIsLost() {
    List.of("@ R 100000 7", "@ D 100001 checksum", "@ R 100002 -1").forEach(keys::line);
    assertEquals(4, judge(Map.of(100_000, 8L, 100_001, 5L, 100_002, 5L, 100_003, 5L)));
    assertEquals(
        List.of(
            "key-100000 is version 7, acknowledged was version 8",
            "key-100001 is damaged, acknowledged was version 5",
            "key-100002 is damaged, acknowledged was version 5",
            "key-100003 is absent, acknowledged was version 5"),
        problems);
  }

  private int judge(Map<Integer, Long> versions) {
    return keys.judge(new Ledger.Claim(versions, true), problems::add);
  }
}
