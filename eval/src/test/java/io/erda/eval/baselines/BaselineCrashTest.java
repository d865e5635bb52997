package io.erda.eval.baselines;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.erda.hashtable.TableFinding;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.ObjectWriter;
import io.erda.simulation.PersistenceDomain;
import io.erda.simulation.SimulatedCrash;
import io.erda.simulation.SimulatedDisk;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A process that ends, or a power failure, inside any store, flush, drain or change of a name, of a
 * recovery too: acknowledged puts are kept, and no value is torn. WRITEs of clients are stored as a
 * NIC stores them: only the server flushes them.
 */
class BaselineCrashTest {
  private static final int RUNS = Integer.getInteger("erda.baseline.crashes", 100);
  private static final int LIVES = 6;
  private static final int KEYS = 6;

  /** A small log comes round in them. */
  private static final int STEPS = 120;

  private static final byte[] ABSENT = null;

  private final MemorySegment buffer = Arena.ofAuto().allocate(1 << 14, 64);
  private final ObjectChecksum sum = new ObjectChecksum(buffer);
  private final ObjectWriter writer = new ObjectWriter(buffer);

  @ParameterizedTest
  @EnumSource(BaselineKind.class)
  void whatWasAcknowledgedIsThere(BaselineKind kind) throws IOException {
    long first = Long.getLong("erda.seed", new Random().nextLong());
    int runs = Long.getLong("erda.seed") == null ? RUNS : 1;
    for (int i = 0; i < runs; i++) {
      new Run(kind, first + i).run();
    }
  }

  private final class Run {
    private final BaselineKind kind;
    private final long seed;
    private final SplittableRandom random;
    private final SimulatedDisk disk;
    private final boolean power;
    private final BaselineGeometry geometry;

    /**
     * The values that a key may have: first the acknowledged one, then those that may have taken
     * effect.
     */
    private final Map<String, List<byte[]>> possible = new HashMap<>();

    private BaselineStore store;
    private boolean lags;

    Run(BaselineKind kind, long seed) {
      this.kind = kind;
      this.seed = seed;
      this.random = new SplittableRandom(seed);
      PersistenceDomain[] domains = PersistenceDomain.values();
      PersistenceDomain domain = domains[random.nextInt(domains.length)];
      this.disk = new SimulatedDisk(domain, random.split());
      this.power = domain.survives() == io.erda.pmem.Survives.POWER_FAILURE;
      int logBytes = 1 << random.nextInt(12, 16);
      this.geometry = new BaselineGeometry(1 << random.nextInt(4, 7), logBytes, 1 << 18, 1 << 12);
    }

    void run() throws IOException {
      for (int key = 0; key < KEYS; key++) {
        possible.put("key " + key, new ArrayList<>(Collections.singletonList(ABSENT)));
      }
      for (int life = 0; life < LIVES; life++) {
        disk.crashAfter(1 + random.nextInt(1 << random.nextInt(1, 12)));
        try {
          open();
          for (int i = 0; i < STEPS; i++) {
            step();
          }
          disk.crashNever();
        } catch (SimulatedCrash e) {
          // It ended inside an event; otherwise it ends between two.
        }
        end();
      }
      disk.crashNever();
      open();
      while (store.apply() > 0) {
        // Everything is where it belongs then, if nothing may lag behind.
      }
      check();
      store.check(this::requireHarmless);
      if (!lags) {
        long keys = possible.values().stream().filter(one -> one.getFirst() != ABSENT).count();
        assertEquals(keys, store.size(), () -> "entries; -Derda.seed=" + seed);
      }
      store.close();
    }

    /** A key word beside a version word of 0 is what a crash may leave. */
    private void requireHarmless(TableFinding finding) {
      if (!(finding instanceof TableFinding.LeftKeyWord)) {
        fail(finding + "; -Derda.seed=" + seed);
      }
    }

    private void end() {
      if (power && random.nextBoolean()) {
        disk.powerFailure(random);
      } else {
        disk.processCrash();
      }
    }

    private void open() throws IOException {
      var directory = disk.directory();
      assertTrue(directory.lock());
      lags = random.nextInt(3) == 0;
      long lag = lags ? geometry.logBytes() / 2 : 0;
      store = BaselineStore.open(directory, geometry, kind, lag, random);
      check();
    }

    /** Checks that each value existed before the failure, and stays. */
    private void check() {
      for (Map.Entry<String, List<byte[]>> entry : possible.entrySet()) {
        byte[] key = entry.getKey().getBytes(UTF_8);
        MemorySegment segment = MemorySegment.ofArray(key);
        byte[] found =
            store.locate(segment, 0, key.length)
                ? store
                    .foundMemory()
                    .asSlice(store.foundAt(), store.foundLength())
                    .toArray(ValueLayout.JAVA_BYTE)
                : ABSENT;
        assertTrue(
            entry.getValue().stream().anyMatch(one -> Arrays.equals(one, found)),
            () ->
                entry.getKey()
                    + " has "
                    + (found == null ? "no value" : found.length + " bytes")
                    + " that nobody put last; -Derda.seed="
                    + seed);
        entry.setValue(new ArrayList<>(Collections.singletonList(found)));
      }
    }

    private void step() {
      String key = "key " + random.nextInt(KEYS);
      byte[] value = random.nextInt(4) == 0 ? ABSENT : value();
      put(key, value);
      if (random.nextBoolean()) {
        store.apply();
      }
    }

    private byte[] value() {
      byte[] value = new byte[random.nextInt(1 << random.nextInt(1, 10))];
      random.nextBytes(value);
      return value;
    }

    /** Puts or deletes, and gets the acknowledgement. */
    private void put(String key, byte[] value) {
      byte[] bytes = key.getBytes(UTF_8);
      MemorySegment segment = MemorySegment.ofArray(bytes);
      if (value == ABSENT && !store.locate(segment, 0, bytes.length)) {
        return;
      }
      if (value != ABSENT && !store.hasRoomForPut()) {
        return;
      }
      int length = value == ABSENT ? 0 : value.length;
      int objectBytes = ObjectLayout.bytes(bytes.length, length);
      if (objectBytes > store.objectBytesMax()) {
        return;
      }
      Place place = store.reserve(objectBytes, 0);
      if (place == null) {
        return;
      }
      possible.get(key).add(value);
      writer.write(
          8,
          segment,
          0,
          bytes.length,
          value == ABSENT ? null : MemorySegment.ofArray(value),
          0,
          length,
          value == ABSENT,
          RedoLog.positionMix(place.position));
      if (kind == BaselineKind.READ_AFTER_WRITE && value != ABSENT) {
        store.await(place);
        buffer.set(ValueLayout.JAVA_LONG, 0, place.position);
        store.logMemory().put(store.log().offset(place.position), buffer, 0, 8 + objectBytes);
        if (random.nextInt(8) == 0) {
          return; // checked with the next put, because it was not acknowledged
        }
        assertTrue(store.look() > 0);
      } else {
        store.append(place, buffer, sum, 8);
      }
      store.drain();
      possible.put(key, new ArrayList<>(Collections.singletonList(value)));
    }
  }
}
