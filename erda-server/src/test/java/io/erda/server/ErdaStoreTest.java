package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Client and server together, embedded and over shared memory. */
class ErdaStoreTest {
  private static final long SEED = Long.getLong("erda.seed", 20261120L);
  @TempDir Path data;

  @Test
  void embeddedStoreKeepsWhatWasPut() {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClient erda = store.client()) {
      exercise(erda);
    }
    check();
  }

  @Test
  void servedStoreKeepsWhatWasPut() {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaClient erda = ErdaClient.connect(server.uri())) {
      exercise(erda);
    }
    check();
  }

  @Test
  void theLongestValueThatTheStoreNamesFits() {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClient erda = store.client()) {
      for (int keyBytes : new int[] {1, 2, 7, erda.keyBytesMax()}) {
        byte[] value = new byte[erda.valueBytesMax(keyBytes)];
        new Random(SEED).nextBytes(value);
        erda.put(new byte[keyBytes], value);
        assertArrayEquals(value, erda.get(new byte[keyBytes]));
        byte[] longer = new byte[value.length + 1];
        assertThrows(ErdaException.BadSize.class, () -> erda.put(new byte[keyBytes], longer));
      }
      assertEquals(erda.valueBytesMax(), erda.valueBytesMax(1));
      assertThrows(ErdaException.BadSize.class, () -> erda.valueBytesMax(0));
      assertThrows(ErdaException.BadSize.class, () -> erda.valueBytesMax(erda.keyBytesMax() + 1));
    }
  }

  private void exercise(ErdaClient erda) {
    Random random = new Random(SEED);
    Map<String, byte[]> model = new HashMap<>();
    for (int i = 0; i < 5_000; i++) {
      String key =
          "key"
              + random.nextInt(500)
              + "x".repeat(random.nextInt(3) == 0 ? random.nextInt(1000) : 0).length();
      byte[] keyBytes = key.getBytes(StandardCharsets.UTF_8);
      switch (random.nextInt(4)) {
        case 0 -> {
          byte[] value =
              new byte[random.nextInt(50) == 0 ? random.nextInt(200_000) : random.nextInt(2000)];
          random.nextBytes(value);
          erda.put(keyBytes, value);
          model.put(key, value);
        }
        case 1 -> assertEquals(model.remove(key) != null, erda.delete(keyBytes), key);
        default -> assertArrayEquals(model.get(key), erda.get(keyBytes), key);
      }
    }
    erda.put("last".getBytes(StandardCharsets.UTF_8), new byte[0]);
    assertArrayEquals(new byte[0], erda.get("last".getBytes(StandardCharsets.UTF_8)));
  }

  private void check() {
    VerifyReport report = StoreVerifier.verify(data);
    assertEquals(List.of(), report.findings());
    assertTrue(report.values() > 100);
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClient erda = store.client()) {
      assertArrayEquals(new byte[0], erda.get("last".getBytes(StandardCharsets.UTF_8)));
      assertNull(erda.get("never".getBytes(StandardCharsets.UTF_8)));
      assertFalse(erda.delete("never".getBytes(StandardCharsets.UTF_8)));
    }
  }
}
