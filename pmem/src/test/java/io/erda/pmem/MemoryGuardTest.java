package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Faults in a file that was shortened, met by code that every compiler of the JVM made. */
class MemoryGuardTest {
  private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
  private static final int BYTES = 1 << 16;
  private static final int PAGE = 4096;

  @TempDir Path directory;

  private final MemoryGuard faults = new MemoryGuard();
  private long caught;
  private long seen;
  private long loads;

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
        int times = round < 20 ? 1 : 20_000;
        assertEquals(0, run(mapped, times), "round " + round);
        file.truncate(PAGE);
        assertEquals(0, run(mapped, 1 + round % 3), "faults elsewhere, round " + round);
        met += 1 + round % 3;
        file.write(ByteBuffer.allocate(BYTES), 0);
      }
      assertEquals(met, caught);
    }
  }

  /** Other errors for which the JDK throws the same class. */
  @Test
  void otherInternalErrorsAreNoFaults() {
    assertFalse(MemoryGuard.isFault(new InternalError(new IOException("Input/output error"))));
    assertFalse(MemoryGuard.isFault(new InternalError()));
    assertFalse(MemoryGuard.isFault(new InternalError("unexpected")));
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

  /** Loads a word by each kind of guarded work in turn. */
  private void load(MemorySegment mapped, long at) {
    boolean met =
        switch ((int) (++loads & 3)) {
          case 0 -> !faults.attempt(this, test -> test.add(mapped, at));
          case 1 -> faults.find(mapped, from -> word(from, at)) == null;
          case 2 -> faults.step(mapped, from -> word(from, at) & 1) == MemoryGuard.FAULT;
          default ->
              faults.access(MemoryGuardTest::load, this, mapped, at, 0, 0, 0) == MemoryGuard.FAULT;
        };
    if (met) {
      assertTrue(MemoryGuard.isFault(faults.fault()), () -> faults.fault().toString());
      caught++;
    }
  }

  private int load(MemorySegment from, long at, long first, long second, long third) {
    add(from, at);
    return 0;
  }

  private void add(MemorySegment from, long at) {
    seen += (long) WORD.getAcquire(from, at);
  }

  private static int word(MemorySegment from, long at) {
    return (int) (long) WORD.getAcquire(from, at);
  }

  /** A guard around takes what is thrown on, and an error that is no fault passes both. */
  @Test
  void whatIsThrownOnIsMetByTheGuardAround() {
    MemoryGuard around = new MemoryGuard();
    InternalError fault = new InternalError("a fault occurred in an unsafe memory access");
    boolean done =
        around.attempt(
            faults,
            inner -> {
              assertNull(inner.find(fault, MemoryGuardTest::thrown));
              throw inner.fault();
            });
    assertFalse(done);
    assertSame(faults.fault(), around.fault());
    assertSame(fault, around.fault().getCause());

    InternalError other = new InternalError("unexpected");
    assertSame(
        other,
        assertThrows(InternalError.class, () -> around.find(other, MemoryGuardTest::thrown)));
    assertEquals("found", around.find("found", found -> found));
    assertNull(around.fault());
  }

  private static Object thrown(InternalError error) {
    throw error;
  }

  /** A guard may be in the way of each READ. */
  @Test
  void guardingAllocatesNothing() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(Long.BYTES, Long.BYTES);
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      guard(memory, 200_000);
      long before = threads.getCurrentThreadAllocatedBytes();
      guard(memory, 100_000);
      long bytes = threads.getCurrentThreadAllocatedBytes() - before;
      assertTrue(bytes < 100_000, () -> bytes + " bytes for 100,000 turns");
    }
  }

  private void guard(MemorySegment memory, int turns) {
    for (int i = 0; i < turns; i++) {
      faults.access(MemoryGuardTest::load, this, memory, 0, 0, 0, 0);
      faults.step(this, test -> test.hashCode());
      faults.attempt(memory, from -> from.get(ValueLayout.JAVA_LONG, 0));
    }
  }
}
