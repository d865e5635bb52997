package io.erda.eval.baselines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.rdma.Device;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One thread is client and server: no other thread takes a step. */
class CallersStepsBaselineTest {
  private static final int OBJECTS = 2_000;
  private static final int OBJECT_BYTES = 64;

  @TempDir Path directory;

  @ParameterizedTest
  @EnumSource(BaselineKind.class)
  void oneThreadDoesAll(BaselineKind kind) throws IOException {
    try (EmbeddedBaseline store = open(kind);
        Device device = store.clientDevice();
        BaselineCalls calls = store.calls(device)) {
      for (int i = 0; i < OBJECTS; i++) {
        calls.put(text("key " + i), text("first " + i));
        calls.put(text("key " + i), text("then " + i));
      }
      for (int i = 0; i < OBJECTS; i++) {
        assertEquals("then " + i, get(calls, "key " + i));
      }
      assertTrue(calls.delete(text("key 7")));
      assertFalse(calls.delete(text("key 7")));
      assertEquals(null, get(calls, "key 7"));
    }
    try (EmbeddedBaseline store = open(kind);
        Device device = store.clientDevice();
        BaselineCalls calls = store.calls(device)) {
      assertEquals("then 8", get(calls, "key 8"), "another opening");
      assertEquals(null, get(calls, "key 7"), "another opening");
    }
  }

  @ParameterizedTest
  @EnumSource(BaselineKind.class)
  void aStoreThatIsOpenIsRefused(BaselineKind kind) throws IOException {
    try (EmbeddedBaseline _ = open(kind)) {
      assertThrows(IOException.class, () -> open(kind).close());
    }
  }

  private EmbeddedBaseline open(BaselineKind kind) throws IOException {
    return new EmbeddedBaseline(kind, directory, OBJECTS, OBJECT_BYTES);
  }

  private static String get(BaselineCalls calls, String key) {
    MemorySegment into = Arena.ofAuto().allocate(OBJECT_BYTES);
    long length = calls.get(text(key), into);
    return length < 0
        ? null
        : StandardCharsets.UTF_8.decode(into.asSlice(0, length).asByteBuffer()).toString();
  }

  private static MemorySegment text(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return Arena.ofAuto().allocate(bytes.length, 8).copyFrom(MemorySegment.ofArray(bytes));
  }
}
