package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.pmem.MemoryGuard;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Keys and values that a caller has mapped from its own file, which was then shortened. The fault
 * is the caller's: the call that was given the memory throws {@link InternalError}, whichever
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

  @TempDir private Path directory;

  private final Arena arena = Arena.ofShared();
  private final byte[] otherKey = {1, 2, 3};
  private final byte[] otherValue = {4, 5, 6};
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
      }
      assertEquals(bytes, client.get(key, value));
      assertArrayEquals(new byte[] {'v'}, value.asSlice(0, 1).toArray(ValueLayout.JAVA_BYTE));
    }
    assertEquals(1, client.statistics().connections());
  }

  private void meets(ErdaClient client, FileChannel shortened, String what, Runnable call)
      throws IOException {
    shortened.truncate(0);
    returned = 0;
    assertThrows(InternalError.class, () -> returns(call), what);
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
