package io.erda.server.engine;

import io.erda.pmem.Creation;
import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Ends the process, as far as the store can tell, right before its n-th store; what was stored
 * stays (a process crash).
 */
public final class CrashingDirectory extends ForwardingDirectory {
  /** The end of a process: no production code catches it. */
  public static final class Crash extends Error {
    private static final long serialVersionUID = 1L;

    Crash() {
      super("crash", null, false, false);
    }
  }

  private long storesLeft;

  public CrashingDirectory(MemoryDirectory directory, long storesLeft) {
    super(directory);
    this.storesLeft = storesLeft;
  }

  private void step() {
    if (storesLeft-- <= 0) {
      throw new Crash();
    }
  }

  @Override
  public PersistentMemory create(String name, long length) throws IOException {
    step();
    return super.create(name, length);
  }

  @Override
  public Creation creating(String name, long length) throws IOException {
    step();
    return super.creating(name, length);
  }

  @Override
  protected PersistentMemory wrap(String name, PersistentMemory memory) {
    return new CrashingMemory(memory);
  }

  /** A process that ends in the middle leaves a length in between. */
  @Override
  public void lengthen(String name, long length) throws IOException {
    step();
    long before;
    try (PersistentMemory memory = super.open(name)) {
      before = memory.segment().byteSize();
    }
    super.lengthen(name, (before + length) / 2);
    step();
    super.lengthen(name, length);
  }

  @Override
  public void delete(String name) throws IOException {
    step();
    super.delete(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    step();
    super.rename(from, to);
  }

  private final class CrashingMemory extends ForwardingMemory {
    CrashingMemory(PersistentMemory memory) {
      super(memory);
    }

    @Override
    public void put(long offset, MemorySegment source, long sourceOffset, long length) {
      step();
      super.put(offset, source, sourceOffset, length);
    }

    @Override
    public void putLongRelease(long offset, long value) {
      step();
      super.putLongRelease(offset, value);
    }

    @Override
    public boolean compareAndSetLong(long offset, long expected, long value) {
      step();
      return super.compareAndSetLong(offset, expected, value);
    }
  }
}
