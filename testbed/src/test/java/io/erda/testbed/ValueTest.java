package io.erda.testbed;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class ValueTest {
  @Test
  void everyByteFollowsFromKeyAndVersion() {
    for (long version = 1; version < 50; version++) {
      byte[] value = Value.of(100_003, version);

      assertEquals(version, Value.versionOf(100_003, value));
      assertEquals(Value.WRONG, Value.versionOf(100_004, value));
      assertEquals(Value.WRONG, Value.versionOf(100_003, Arrays.copyOf(value, value.length - 1)));
      for (int at = 0; at < value.length; at++) {
        byte[] changed = value.clone();
        changed[at] ^= 1;
        assertEquals(Value.WRONG, Value.versionOf(100_003, changed), "byte " + at);
      }
    }
  }

  @Test
  void zerosAreNoValue() {
    assertEquals(Value.WRONG, Value.versionOf(100_003, new byte[0]));
    assertEquals(Value.WRONG, Value.versionOf(100_003, new byte[400]));
  }
}
