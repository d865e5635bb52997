package io.erda.simulation.system;

import io.erda.pmem.PersistentMemory;
import io.erda.server.engine.publishing.Syncs;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * Drains that end some time after they began, one memory after the other, while the server goes on.
 * A drain that is under way when its process ends never completes.
 */
final class SimulatedSyncs implements Syncs {
  private static final int NS_LOG2_MAX = 22;

  private final LongSupplier nanoTime;
  private final RandomGenerator random;
  private final List<PersistentMemory> group = new ArrayList<>();
  private boolean underWay;
  private long nextNs;

  /** The exception of a drain, until it was thrown to the server. */
  private UncheckedIOException failure;

  SimulatedSyncs(LongSupplier nanoTime, RandomGenerator random) {
    this.nanoTime = nanoTime;
    this.random = random;
  }

  @Override
  public void add(PersistentMemory memory) {
    if (!group.contains(memory)) {
      group.add(memory);
    }
  }

  @Override
  public void begin() {
    underWay = !group.isEmpty();
    waitForNext();
  }

  private void waitForNext() {
    nextNs = nanoTime.getAsLong() + random.nextLong(1L << random.nextInt(NS_LOG2_MAX));
  }

  @Override
  public boolean isDone() {
    while (underWay && nanoTime.getAsLong() >= nextNs) {
      drainNext();
    }
    if (failure != null) {
      UncheckedIOException thrown = failure;
      failure = null;
      throw thrown;
    }
    return !underWay;
  }

  private void drainNext() {
    PersistentMemory next = group.removeFirst();
    underWay = !group.isEmpty();
    waitForNext();
    try {
      next.drain();
    } catch (UncheckedIOException e) {
      failure = e;
      group.clear();
      underWay = false;
    }
  }

  @Override
  public void await() {
    while (underWay) {
      drainNext();
    }
  }

  @Override
  public void cancel() {
    group.clear();
    underWay = false;
    failure = null;
  }
}
