package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.protocol.ErdaException;
import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An unexpected exception in the middle of a call. A blocking client has one slot for each kind of
 * operation, so a slot that is not freed would make it unusable.
 */
class CutShortTest {
  private static final byte[] KEY = "a".getBytes(UTF_8);
  private static final byte[] VALUE = {1, 2, 3};

  @TempDir Path directory;

  private final FakeStore store = new FakeStore();

  private ErdaClient client() {
    return store.client(
        ClientOptions.DEFAULT
            .withPollingNs(1L << 40)
            .withOperationTimeout(Duration.ofSeconds(20))
            .withConnectTimeout(Duration.ofSeconds(20)));
  }

  /** Before the next post of a kind. */
  private void throwOnce(int opcode, Error thrown) {
    store.clientDevice.hook =
        (posted, key, offset, length) -> {
          if (posted == opcode) {
            store.clientDevice.hook = (any, k, o, l) -> HookedDevice.GO;
            throw thrown;
          }
          return HookedDevice.GO;
        };
  }

  @ParameterizedTest
  @ValueSource(ints = {Opcode.WRITE, Opcode.SEND})
  void aPutThatMetLostMemoryIsToldAndItsSlotIsFree(int opcode) {
    try (ErdaClient erda = client()) {
      erda.put(KEY, VALUE);
      for (int i = 0; i < 5; i++) {
        InternalError fault = new InternalError("a fault occurred");
        throwOnce(opcode, fault);
        ErdaException told = assertThrows(ErdaException.class, () -> erda.put(KEY, VALUE));
        assertTrue(told.getMessage().contains("put of"), told.getMessage());
        if (opcode == Opcode.WRITE) {
          assertSame(fault, told.getSuppressed()[0]);
        }
        erda.put(KEY, VALUE);
        assertArrayEquals(VALUE, erda.get(KEY));
        assertTrue(erda.delete(KEY));
      }
    }
  }

  @Test
  void aGetThatMetLostMemoryIsToldAndItsSlotIsFree() {
    try (ErdaClient erda = client()) {
      erda.put(KEY, VALUE);
      for (int i = 0; i < 5; i++) {
        throwOnce(Opcode.READ, new InternalError("a fault occurred"));
        ErdaException.Unavailable told =
            assertThrows(ErdaException.Unavailable.class, () -> erda.get(KEY));
        assertTrue(
            told.getMessage().startsWith("get of")
                && told.getMessage().contains("a fault occurred"),
            told.getMessage());
        assertArrayEquals(VALUE, erda.get(KEY));
      }
    }
  }

  /** The server's answer has the outcome; the connection remains usable. */
  @Test
  void aWriteThatMetLostMemoryCostsNoConnection() {
    try (ErdaClient erda = client()) {
      erda.put(KEY, VALUE);
      store.clientDevice.hook =
          (posted, key, offset, length) ->
              posted == Opcode.WRITE ? Status.MEMORY_LOST : HookedDevice.GO;
      ErdaException.Unusable told =
          assertThrows(ErdaException.Unusable.class, () -> erda.put(KEY, new byte[] {4}));
      assertTrue(told.getMessage().contains("can't be written from here"), told.getMessage());
      store.clientDevice.hook = (posted, key, offset, length) -> HookedDevice.GO;
      assertArrayEquals(VALUE, erda.get(KEY));
      erda.put(KEY, VALUE);
      assertEquals(1, erda.statistics().connections());
    }
  }

  /** An exception that the client does not explain is passed on unchanged. */
  @Test
  void anotherErrorComesThroughAndTheSlotIsFree() {
    try (ErdaClient erda = client()) {
      erda.put(KEY, VALUE);
      OutOfMemoryError thrown = new OutOfMemoryError("made up");
      throwOnce(Opcode.WRITE, thrown);
      assertSame(thrown, assertThrows(OutOfMemoryError.class, () -> erda.put(KEY, VALUE)));
      throwOnce(Opcode.SEND, thrown);
      assertSame(thrown, assertThrows(OutOfMemoryError.class, erda::stats));
      erda.put(KEY, VALUE);
      assertArrayEquals(VALUE, erda.get(KEY));
    }
  }

  /** Then the fault is the caller's, and comes to light in the call that was given the memory. */
  @Test
  void aValueInAFileThatTheCallerShortenedEndsThatPutAlone() throws Exception {
    try (Arena arena = Arena.ofShared();
        FileChannel file =
            FileChannel.open(
                directory.resolve("file"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        ErdaClient erda = client()) {
      erda.put(KEY, VALUE);
      MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, 8192, arena);
      for (int i = 0; i < 200; i++) {
        file.truncate(0);
        assertThrows(
            ErdaException.BadArgument.class,
            () -> erda.put(MemorySegment.ofArray(KEY), mapped.asSlice(4096, 100)));
        assertArrayEquals(VALUE, erda.get(KEY));
      }
      assertEquals(1, erda.statistics().connections());
    }
  }
}
