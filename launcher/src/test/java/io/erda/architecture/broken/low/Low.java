package io.erda.architecture.broken.low;

import io.erda.architecture.broken.high.High;
import java.lang.foreign.Linker;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/** Breaks every rule but the one about the JDK. */
final class Low {
  static int counter;
  static final AtomicInteger ATOMIC = new AtomicInteger();
  static final int CONSTANT = 1;

  private final High high = new High();
  private final Linker linker = Linker.nativeLinker();
  private final LongSupplier clock = System::nanoTime;

  double sample() {
    try {
      return clock.getAsLong()
          + System.currentTimeMillis()
          + new Random().nextInt()
          + new Random(CONSTANT).nextInt()
          + Math.random()
          + high.hashCode()
          + linker.hashCode();
    } catch (IllegalStateException | InternalError e) {
      return CONSTANT;
    }
  }
}
