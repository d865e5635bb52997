package io.erda.server;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Takes the calling thread to another core of those that it may use: by leaving its own out of them
 * for a moment. What it may use is the same afterwards. Linux; one thread.
 */
final class OtherCore {
  /** Room for 1,024 processors, as the C library has it. */
  private static final int MASK_BYTES = 128;

  private static final int CALLER = 0;

  private final MemorySegment mask = Arena.ofAuto().allocate(MASK_BYTES, 8);
  private final MethodHandle getAffinity = affinity("sched_getaffinity");
  private final MethodHandle setAffinity = affinity("sched_setaffinity");
  private final MethodHandle getCpu =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("sched_getcpu"),
              FunctionDescriptor.of(ValueLayout.JAVA_INT));

  private static MethodHandle affinity(String function) {
    return Linker.nativeLinker()
        .downcallHandle(
            Linker.nativeLinker().defaultLookup().findOrThrow(function),
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_LONG,
                ValueLayout.ADDRESS));
  }

  /** Returns whether it did: not where there is no other, or the kernel refuses. */
  boolean take() {
    try {
      int cpu = (int) getCpu.invokeExact();
      mask.fill((byte) 0);
      if (cpu < 0
          || cpu >= MASK_BYTES * Byte.SIZE
          || (int) getAffinity.invokeExact(CALLER, (long) MASK_BYTES, mask) != 0) {
        return false;
      }
      long at = cpu / Byte.SIZE;
      byte with = mask.get(ValueLayout.JAVA_BYTE, at);
      mask.set(ValueLayout.JAVA_BYTE, at, (byte) (with & ~(1 << cpu % Byte.SIZE)));
      if (isEmpty() || (int) setAffinity.invokeExact(CALLER, (long) MASK_BYTES, mask) != 0) {
        return false;
      }
      mask.set(ValueLayout.JAVA_BYTE, at, with);
      return (int) setAffinity.invokeExact(CALLER, (long) MASK_BYTES, mask) == 0;
    } catch (Error | RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  private boolean isEmpty() {
    for (long at = 0; at < MASK_BYTES; at += Long.BYTES) {
      if (mask.get(ValueLayout.JAVA_LONG, at) != 0) {
        return false;
      }
    }
    return true;
  }
}
