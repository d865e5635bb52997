package io.erda.hashtable;

import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.PersistentMemory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.UnaryOperator;

/** Memories with a defect each: what the table would be like if it forgot a step. */
final class DefectiveMemory {
  private DefectiveMemory() {}

  /** Leaves out one flush, the {@code n}-th from 0. */
  static UnaryOperator<PersistentMemory> withoutFlush(int n) {
    return memory ->
        new ForwardingMemory(memory) {
          private int flushes;

          @Override
          public void flush(long offset, long length) {
            if (flushes++ != n) {
              super.flush(offset, length);
            }
          }
        };
  }

  /** Leaves out one drain, the {@code n}-th from 0. */
  static UnaryOperator<PersistentMemory> withoutDrain(int n) {
    return memory ->
        new ForwardingMemory(memory) {
          private int drains;

          @Override
          public void drain() {
            if (drains++ != n) {
              super.drain();
            }
          }
        };
  }

  /** Leaves out every store of {@code value} at {@code offset}. */
  static UnaryOperator<PersistentMemory> withoutStore(long offset, long value) {
    return memory ->
        new ForwardingMemory(memory) {
          @Override
          public void putLongRelease(long at, long stored) {
            if (at != offset || stored != value) {
              super.putLongRelease(at, stored);
            }
          }
        };
  }

  /** One store, recognised. */
  interface Store {
    boolean is(long offset, long value);
  }

  /**
   * Makes the store {@code late} before the store {@code early}, once: holds {@code early} back,
   * with everything that follows, until {@code late} was made.
   */
  static UnaryOperator<PersistentMemory> swapped(Store early, Store late) {
    return memory ->
        new ForwardingMemory(memory) {
          private final Deque<Runnable> held = new ArrayDeque<>();
          private boolean done;

          @Override
          public void putLongRelease(long offset, long value) {
            if (!held.isEmpty() && late.is(offset, value)) {
              super.putLongRelease(offset, value);
              done = true;
              while (!held.isEmpty()) {
                held.removeFirst().run();
              }
            } else if (!held.isEmpty() || (!done && early.is(offset, value))) {
              held.add(() -> super.putLongRelease(offset, value));
            } else {
              super.putLongRelease(offset, value);
            }
          }

          @Override
          public void flush(long offset, long length) {
            later(() -> super.flush(offset, length));
          }

          @Override
          public void drain() {
            later(super::drain);
          }

          private void later(Runnable step) {
            if (held.isEmpty()) {
              step.run();
            } else {
              held.add(step);
            }
          }
        };
  }
}
