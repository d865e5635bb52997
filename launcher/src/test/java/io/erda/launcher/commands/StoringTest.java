package io.erda.launcher.commands;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.console.UserError;
import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How many keys are stored where some are refused, by a store and a clock of the test's own. */
class StoringTest {
  private final Map<String, String> store = new LinkedHashMap<>();
  private long nowNs;
  private int calls;
  private int refused;

  /** In every call, what is left of it when it is done with is refused. */
  private int storedInACall = 1;

  private String tooLong = "";

  private final Storing storing = new Storing(this::putAll, "line", () -> nowNs, ns -> nowNs += ns);

  private int putAll(MemorySegment[] keys, MemorySegment[] values, ErdaException[] errors) {
    calls++;
    int left = storedInACall;
    int failed = 0;
    for (int i = 0; i < keys.length; i++) {
      if (text(keys[i]).equals(tooLong)) {
        errors[i] = new ErdaException.BadSize("too long");
      } else if (left == 0) {
        errors[i] = new ErdaException.Full(ErdaException.Full.What.QUOTA, "over quota");
        refused++;
      } else {
        store.put(text(keys[i]), text(values[i]));
        left--;
      }
      failed += errors[i] == null ? 0 : 1;
    }
    return failed;
  }

  private static String text(MemorySegment bytes) {
    return new String(bytes.toArray(ValueLayout.JAVA_BYTE), UTF_8);
  }

  private void add(long line, String key, String value) {
    storing.add(line, key.getBytes(UTF_8), value.getBytes(UTF_8));
  }

  private void addAll(int first, int last) {
    for (int i = first; i <= last; i++) {
      add(i, "key " + i, "of line " + i);
    }
  }

  @Test
  void whatIsRefusedIsTriedAgainUntilAllIsStored() {
    addAll(1, 640);
    storing.flush();
    assertEquals(640, store.size());
    assertEquals(640, storing.stored());
    assertEquals(0, nowNs, "some of each call got through");
    assertTrue(refused <= 64 + 640, () -> refused + " were refused");
    storedInACall = 64;
    addAll(641, 1280);
    int before = calls;
    addAll(1281, 1344);
    assertEquals(before + 1, calls, "they go together again");
  }

  /** A refused put is stored later than one that was sent after it. */
  @Test
  void ofAKeyThatComesTwiceTheLastValueStays() {
    Storing reordering =
        new Storing(
            (keys, values, errors) -> {
              boolean first = calls == 0;
              storedInACall = keys.length;
              int failed = putAll(keys, values, errors);
              if (first) {
                errors[0] = new ErdaException.Full(ErdaException.Full.What.QUOTA, "over quota");
                return 1;
              }
              return failed;
            },
            "line",
            () -> nowNs,
            ns -> nowNs += ns);
    reordering.add(1, "key".getBytes(UTF_8), "old".getBytes(UTF_8));
    reordering.add(2, "other".getBytes(UTF_8), "any".getBytes(UTF_8));
    reordering.add(3, "key".getBytes(UTF_8), "new".getBytes(UTF_8));
    reordering.flush();
    assertEquals(Map.of("key", "new", "other", "any"), store);
    assertEquals(3, reordering.stored());
  }

  @Test
  void itFailsWhereNothingGetsThroughForSoLong() {
    addAll(1, 64);
    storedInACall = 0;
    addAll(65, 70);
    UserError error = assertThrows(UserError.class, storing::flush);
    assertEquals("line 65: over quota; 64 keys were stored before it", error.getMessage());
    assertTrue(nowNs > Storing.REFUSED_NS_MAX && nowNs < 2 * Storing.REFUSED_NS_MAX);
  }

  @Test
  void whatStandsBeforeALineThatFailsIsStored() {
    tooLong = "key 5";
    addAll(1, 8);
    UserError error = assertThrows(UserError.class, storing::flush);
    assertEquals("line 5: too long; 4 keys were stored before it", error.getMessage());
    assertEquals(4, store.size());
  }

  @Test
  void whatIsStoredBehindIsSaid() {
    tooLong = "key 5";
    storedInACall = 64;
    addAll(1, 8);
    UserError error = assertThrows(UserError.class, storing::flush);
    assertEquals(
        "line 5: too long; 4 keys were stored before it, and 3 behind it", error.getMessage());
    assertEquals(7, store.size());
  }
}
