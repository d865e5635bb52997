package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Faults in a file that was shortened, met by code that every compiler of the JVM made. */
class FaultPointTest {
  private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
  private static final int BYTES = 1 << 16;
  private static final int PAGE = 4096;

  @TempDir Path directory;

  private final FaultPoint faults = new FaultPoint();
  private long caught;
  private long seen;

  @Test
  void aFaultComesToLightBeforeOtherWorkBegins() throws Exception {
    try (Arena arena = Arena.ofShared();
        FileChannel file =
            FileChannel.open(
                directory.resolve("file"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.allocate(BYTES), 0);
      MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
      int met = 0;
      for (int round = 0; round < 200; round++) {
        // First interpreted, then compiled by one compiler after the other.
        int loads = round < 20 ? 1 : 20_000;
        assertEquals(0, run(mapped, loads), "round " + round);
        file.truncate(PAGE);
        assertEquals(0, run(mapped, 1 + round % 3), "faults elsewhere, round " + round);
        met += 1 + round % 3;
        file.write(ByteBuffer.allocate(BYTES), 0);
      }
      assertEquals(met, caught);
    }
  }

  /** What else the JDK throws the same class for. */
  @Test
  void otherInternalErrorsAreNoFaults() {
    assertFalse(FaultPoint.isFault(new InternalError(new IOException("Input/output error"))));
    assertFalse(FaultPoint.isFault(new InternalError()));
    assertFalse(FaultPoint.isFault(new InternalError("unexpected")));
  }

  /** Returns how many errors were thrown elsewhere than where they are waited for. */
  private int run(MemorySegment mapped, int loads) {
    int elsewhere = 0;
    try {
      for (int i = 0; i < loads; i++) {
        load(mapped, 2 * PAGE + (i & 7) * 8L);
      }
    } catch (InternalError e) {
      elsewhere++;
    }
    return elsewhere;
  }

  private void load(MemorySegment mapped, long at) {
    try {
      seen += (long) WORD.getAcquire(mapped, at);
      faults.surface();
    } catch (InternalError e) {
      assertTrue(FaultPoint.isFault(e), e.toString());
      caught++;
    }
  }
}
