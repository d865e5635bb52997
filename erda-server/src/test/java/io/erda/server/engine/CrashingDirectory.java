package io.erda.server.engine;

import io.erda.pmem.Backing;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Ends the process, as far as the store can tell, right before its n-th store; what was stored
 * stays (a process crash).
 */
final class CrashingDirectory implements MemoryDirectory {
  /** The end of a process: no production code catches it. */
  static final class Crash extends Error {
    private static final long serialVersionUID = 1L;

    Crash() {
      super("crash", null, false, false);
    }
  }

  private final MemoryDirectory directory;
  private long storesLeft;

  CrashingDirectory(MemoryDirectory directory, long storesLeft) {
    this.directory = directory;
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
    return new CrashingMemory(directory.create(name, length));
  }

  @Override
  public PersistentMemory open(String name) throws IOException {
    return new CrashingMemory(directory.open(name));
  }

  @Override
  public void delete(String name) throws IOException {
    step();
    directory.delete(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    step();
    directory.rename(from, to);
  }

  @Override
  public boolean exists(String name) {
    return directory.exists(name);
  }

  @Override
  public List<String> names() throws IOException {
    return directory.names();
  }

  @Override
  public void sync() throws IOException {
    directory.sync();
  }

  @Override
  public boolean lock() throws IOException {
    return directory.lock();
  }

  @Override
  public Survives survives() {
    return directory.survives();
  }

  @Override
  public void close() {
    directory.close();
  }

  private final class CrashingMemory implements PersistentMemory {
    private final PersistentMemory memory;

    CrashingMemory(PersistentMemory memory) {
      this.memory = memory;
    }

    @Override
    public MemorySegment segment() {
      return memory.segment();
    }

    @Override
    public void put(long offset, MemorySegment source, long sourceOffset, long length) {
      step();
      memory.put(offset, source, sourceOffset, length);
    }

    @Override
    public void putLongRelease(long offset, long value) {
      step();
      memory.putLongRelease(offset, value);
    }

    @Override
    public void flush(long offset, long length) {
      memory.flush(offset, length);
    }

    @Override
    public void drain() {
      memory.drain();
    }

    @Override
    public Survives survives() {
      return memory.survives();
    }

    @Override
    public boolean visibleBeforeDurable() {
      return memory.visibleBeforeDurable();
    }

    @Override
    public Backing backing() {
      return memory.backing();
    }

    @Override
    public void close() {
      memory.close();
    }
  }
}
