package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.logstore.LogGeometry;
import io.erda.pmem.MappedDirectory;
import io.erda.protocol.ErdaException;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.store.StoreOpening;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A log has at least one region more than heads. One that has as many regions as heads can't be
 * cleaned once each head has its region: it stayed full after most keys were deleted.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class HeadsAndRegionsTest {
  private static final long REGION = 1 << 16;
  private static final int PATIENCE = 1000;

  @TempDir private Path data;

  private static byte[] key(int i) {
    return ("key-" + i).getBytes(UTF_8);
  }

  /** Puts until the log is full. Returns how many keys have a value. */
  private static int fill(ErdaClient erda) {
    for (int i = 0; ; i++) {
      try {
        erda.put(key(i), new byte[4000]);
      } catch (ErdaException.Full e) {
        assertEquals(ErdaException.Full.What.LOG, e.what());
        return i;
      }
    }
  }

  /** Each fourth key stays, so that live objects must be copied before there is room again. */
  private static void deletesMakeRoom(ErdaStore store) throws InterruptedException {
    try (ErdaClient erda = store.client()) {
      int filled = fill(erda);
      for (int i = 0; i < filled; i++) {
        if (i % 4 != 0) {
          erda.delete(key(i));
        }
      }
      for (int i = 1; i < filled; i += 4) {
        putAtLast(erda, key(i));
      }
    }
  }

  private static void putAtLast(ErdaClient erda, byte[] key) throws InterruptedException {
    for (int tries = 0; ; tries++) {
      try {
        erda.put(key, new byte[4000]);
        return;
      } catch (ErdaException.Full e) {
        assertTrue(tries < PATIENCE, e::getMessage);
        Thread.sleep(1);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 15, 16, 40})
  void headsAloneMakeRegionsSmaller(int heads) throws InterruptedException {
    ServerOptions options = ServerOptions.DEFAULTS.withHeads(heads).withCapacityBytes(16 << 20);
    assertTrue(options.capacityBytes() / options.regionBytes() > heads, options.regionBytes() + "");
    try (ErdaStore store = ErdaStore.open(data, options)) {
      deletesMakeRoom(store);
    }
  }

  @Test
  void asManyRegionsAsHeadsAreRefusedWithBothNumbers() {
    ServerOptions both =
        ServerOptions.DEFAULTS
            .withHeads(4)
            .withRegionBytes(1 << 20)
            .withSegmentBytes(1 << 16)
            .withCapacityBytes(4 << 20);
    ErdaException e = assertThrows(ErdaException.class, () -> ErdaStore.open(data, both).close());
    assertTrue(
        e.getMessage().contains("holds 4 regions of 1048576 bytes, and the log has 4 heads"),
        e::getMessage);
    assertTrue(e.getMessage().contains("one region more than heads"), e::getMessage);
    ErdaStore.open(data, both.withCapacityBytes(5 << 20)).close();
  }

  /** Found by a tester: the number of heads that it needs overflowed, and was told as negative. */
  @Test
  void theLargestNumberIsNoCapacity() {
    ServerOptions endless = ServerOptions.DEFAULTS.withCapacityBytes(Long.MAX_VALUE);
    ErdaException e =
        assertThrows(ErdaException.class, () -> ErdaStore.open(data, endless).close());
    assertTrue(
        e.getMessage()
            .contains(
                "capacity of 9223372036854775807 bytes needs more than 256 heads: a head reaches"
                    + " 17179869184 bytes"),
        e::getMessage);
  }

  @Test
  void aCapacityIsNotLoweredSoFar() {
    ServerOptions more =
        ServerOptions.DEFAULTS
            .withHeads(2)
            .withRegionBytes(REGION)
            .withSegmentBytes(1 << 14)
            .withCapacityBytes(8 * REGION);
    ErdaStore.open(data, more).close();
    ErdaException e =
        assertThrows(
            ErdaException.Unusable.class,
            () -> ErdaStore.open(data, more.withCapacityBytes(2 * REGION)).close());
    assertTrue(
        e.getMessage().contains("holds 2 regions of 65536 bytes, and the store has 2 heads"),
        e::getMessage);
    ErdaStore.open(data, more.withCapacityBytes(3 * REGION)).close();
  }

  /** An earlier version made it. It opens with the capacity that it has, and with a larger one. */
  @Test
  void aStoreThatIsSoOpensAndCanBeMended() throws IOException, InterruptedException {
    try (MappedDirectory files = MappedDirectory.open(data)) {
      assertTrue(files.lock());
      StoreOpening.open(
              files,
              new StoreGeometry(new LogGeometry(2, REGION, 1 << 14, 2), 1 << 10),
              new Random(1))
          .close();
    }
    try (ErdaStore store = ErdaStore.open(data);
        ErdaClient erda = store.client()) {
      erda.put(key(1), key(1));
    }
    ServerOptions asItIs = ServerOptions.DEFAULTS.withCapacityBytes(2 * REGION);
    try (ErdaStore store = ErdaStore.open(data, asItIs)) {
      assertEquals(List.of(), store.notes());
    }
    try (ErdaStore store =
        ErdaStore.open(data, ServerOptions.DEFAULTS.withCapacityBytes(3 * REGION))) {
      deletesMakeRoom(store);
    }
  }
}
