package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.client.KeyCursor;
import io.erda.pmem.MemoryGuard;
import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Keys and values that a caller has mapped from its own file, which was then shortened. The fault
 * is the caller's: the call that was given the memory throws {@code BadArgument}, whichever
 * compiler made its code, and neither another call nor the connection is affected.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class CallersMemoryTest {
  /**
   * Lengths of keys and values. Short bytes are copied without a loop, by a put (7 and 3) or by a
   * get (8), so that no turn of a loop makes the JVM throw the fault. Long ones are copied by the
   * JVM's own code.
   */
  private static final int[][] LENGTHS = {{7, 3}, {8, 8}, {16, 40}, {16, 10_000}};

  private static final int KEYS_BYTES = 16;

  private static final int VALUES_BYTES = 1 << 14;
  private static final int ROUNDS = 40;
  private static final int LARGE_BYTES = 900_000;
  private static final int CLOSINGS = 400;

  @TempDir private Path directory;

  private final Arena arena = Arena.ofShared();
  private final byte[] otherKey = {1, 2, 3};
  private final byte[] otherValue = {4, 5, 6};
  private final MemorySegment otherSegment = MemorySegment.ofArray(otherKey);
  private final MemoryGuard faults = new MemoryGuard();

  /** Calls that ended as if they had met nothing. */
  private int returned;

  private FileChannel keys;
  private FileChannel values;
  private MemorySegment longestKey;

  /** The longest value, or the room for it. */
  private MemorySegment longestValue;

  @BeforeEach
  void map() throws IOException {
    keys = open("keys");
    values = open("values");
    longestKey = keys.map(MapMode.READ_WRITE, 0, KEYS_BYTES, arena);
    longestValue = values.map(MapMode.READ_WRITE, 0, VALUES_BYTES, arena);
    fill();
  }

  private FileChannel open(String name) throws IOException {
    return FileChannel.open(
        directory.resolve(name),
        StandardOpenOption.CREATE_NEW,
        StandardOpenOption.READ,
        StandardOpenOption.WRITE);
  }

  @AfterEach
  void unmap() throws IOException {
    keys.close();
    values.close();
    arena.close();
  }

  /** Both files are whole again. */
  private void fill() throws IOException {
    keys.write(ByteBuffer.allocate(1), KEYS_BYTES - 1);
    values.write(ByteBuffer.allocate(1), VALUES_BYTES - 1);
    longestKey.fill((byte) 'k');
    longestValue.fill((byte) 'v');
  }

  private ServerOptions options() {
    return ServedElsewhere.OPTIONS.withListening(List.of(Listening.tcp("127.0.0.1:0")));
  }

  @Test
  void aClientInTheStoresOwnProcess() throws IOException {
    try (ErdaStore store = ErdaStore.open(directory.resolve("data"), ServedElsewhere.OPTIONS);
        ErdaClient client = store.client()) {
      everyDoor(client, 12_000);
    }
  }

  @Test
  void aClientOverSharedMemory() throws IOException {
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), options());
        ErdaClient client = ErdaClient.connect(server.uri())) {
      everyDoor(client, 12_000);
    }
  }

  @Test
  void aClientOverTcp() throws IOException {
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), options());
        ErdaClient client = ErdaClient.connect(server.uris().get(1))) {
      everyDoor(client, 2_000);
    }
  }

  /** Another thread closes the arena while the bytes are copied, or a moment before or after. */
  @Test
  void anArenaThatIsClosedDuringTheCall() throws Exception {
    Random random = new Random(1);
    ServerOptions larger =
        ServedElsewhere.OPTIONS.withRegionBytes(8 << 20).withSegmentBytes(1 << 20);
    try (ErdaStore store = ErdaStore.open(directory.resolve("data"), larger);
        ErdaClient client = store.client()) {
      client.put(otherKey, new byte[LARGE_BYTES]);
      for (int i = 0; i < CLOSINGS; i++) {
        Arena shared = Arena.ofShared();
        MemorySegment value = shared.allocate(LARGE_BYTES);
        int turns = random.nextInt(100_000);
        Thread closing =
            Thread.ofPlatform()
                .start(() -> {
                  for (int turn = 0; turn < turns; turn++) {
                    Thread.onSpinWait();
                  }
                  shared.close();
                });
        boolean puts = i % 2 == 0;
        try {
          if (puts) {
            client.put(otherSegment, value);
          } else {
            client.get(otherSegment, value);
          }
        } catch (ErdaException.BadArgument e) {
          String what = puts ? "the key or the value" : "the segment for the value";
          assertEquals(
              "the memory of " + what + " was freed during the call: its arena was closed",
              e.getMessage());
        } catch (IllegalStateException e) {
          assertTrue(e.getMessage().endsWith(" is freed: its arena is closed"), e.getMessage());
        }
        awaitEnd(closing);
        assertEquals(LARGE_BYTES, client.get(otherKey).length);
      }
    }
  }

  /**
   * The JVM may set the caller's interrupt status when it closes an arena that is being copied. The
   * status is not kept.
   */
  private static void awaitEnd(Thread closing) {
    while (closing.isAlive()) {
      Thread.interrupted();
      LockSupport.parkNanos(10_000);
    }
    Thread.interrupted();
  }

  private void everyDoor(ErdaClient client, int calls) throws IOException {
    client.put(otherKey, otherValue);
    for (int[] lengths : LENGTHS) {
      MemorySegment key = longestKey.asSlice(0, lengths[0]);
      MemorySegment value = longestValue.asSlice(0, lengths[1]);
      long bytes = value.byteSize();
      for (int i = 0; i < calls; i++) {
        client.put(key, value);
        assertEquals(bytes, client.get(key, value));
        if (i % 4 == 0) {
          assertTrue(client.delete(key));
        }
      }
      client.put(key, value);
      for (int round = 0; round < ROUNDS; round++) {
        meets(client, values, "value of a get", () -> client.get(key, value));
        meets(client, keys, "key of a get", () -> client.get(key, value));
        meets(client, values, "value of a put", () -> client.put(key, value));
        meets(client, keys, "key of a put", () -> client.put(key, value));
        meets(client, keys, "key of a delete", () -> client.delete(key));
        meets(client, values, "expected", () -> client.compareAndDelete(otherSegment, value));
        meets(client, values, "value at a cursor", () -> valueAtACursor(client));
      }
      assertEquals(bytes, client.get(key, value));
      assertArrayEquals(new byte[] {'v'}, value.asSlice(0, 1).toArray(ValueLayout.JAVA_BYTE));
    }
    assertEquals(1, client.statistics().connections());
  }

  private void valueAtACursor(ErdaClient client) {
    try (KeyCursor cursor = client.keys()) {
      assertTrue(cursor.next());
      cursor.value(longestValue);
    }
  }

  private void meets(ErdaClient client, FileChannel shortened, String what, Runnable call)
      throws IOException {
    shortened.truncate(0);
    returned = 0;
    ErdaException.BadArgument e =
        assertThrows(ErdaException.BadArgument.class, () -> returns(call), what);
    assertTrue(e.getMessage().contains(" is missing: the file that it maps"), e.getMessage());
    assertEquals(0, returned, what + ": the fault came to light behind the call");
    client.put(otherKey, otherValue);
    assertArrayEquals(otherValue, client.get(otherKey), what);
    fill();
  }

  private void returns(Runnable call) {
    call.run();
    returned++;
    faults.surface();
  }
}
