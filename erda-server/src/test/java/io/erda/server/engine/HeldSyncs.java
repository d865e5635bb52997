package io.erda.server.engine;

import io.erda.pmem.PersistentMemory;
import io.erda.server.engine.publishing.Syncs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** Drains only on demand. */
final class HeldSyncs implements Syncs {
  private final List<PersistentMemory> group = new ArrayList<>();
  private boolean underWay;
  int groups;
  int awaited;

  /** Whether drains are this class's now, and not the server's own. */
  boolean draining;

  /** The group that fails; 0: none. */
  int failing;

  @Override
  public void add(PersistentMemory memory) {
    if (!group.contains(memory)) {
      group.add(memory);
    }
  }

  @Override
  public void begin() {
    underWay = !group.isEmpty();
    groups += underWay ? 1 : 0;
  }

  @Override
  public boolean isDone() {
    if (!underWay && groups == failing) {
      failing = 0;
      throw new UncheckedIOException(new IOException("Input/output error"));
    }
    return !underWay;
  }

  @Override
  public void await() {
    awaited += underWay ? 1 : 0;
    release();
  }

  @Override
  public void cancel() {
    group.clear();
    underWay = false;
  }

  /** Whether the memory is being drained. */
  boolean isUnderWay(PersistentMemory memory) {
    return underWay && group.contains(memory);
  }

  void release() {
    draining = true;
    group.forEach(PersistentMemory::drain);
    draining = false;
    group.clear();
    underWay = false;
  }
}
