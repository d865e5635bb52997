package io.erda.pmem;

import java.io.IOException;
import java.util.List;
import java.util.Objects;

/**
 * A directory whose memories are those of another one in a wrapper. Owns that directory: closing
 * this closes it.
 */
abstract class DecoratedDirectory implements MemoryDirectory {
  private final MemoryDirectory directory;

  DecoratedDirectory(MemoryDirectory directory) {
    this.directory = Objects.requireNonNull(directory);
  }

  /**
   * A wrapper without resources of its own: whoever closes the memory underneath has closed the
   * wrapper.
   */
  abstract PersistentMemory wrap(PersistentMemory memory);

  @Override
  public final PersistentMemory create(String name, long length) throws IOException {
    return wrap(directory.create(name, length));
  }

  @Override
  public final Creation creating(String name, long length) throws IOException {
    Creation creation = directory.creating(name, length);
    return new Creation() {
      @Override
      public PersistentMemory step() throws IOException {
        PersistentMemory memory = creation.step();
        return memory == null ? null : wrap(memory);
      }

      @Override
      public void close() {
        creation.close();
      }
    };
  }

  @Override
  public final PersistentMemory open(String name) throws IOException {
    return wrap(directory.open(name));
  }

  @Override
  public final void delete(String name) throws IOException {
    directory.delete(name);
  }

  @Override
  public final void rename(String from, String to) throws IOException {
    directory.rename(from, to);
  }

  @Override
  public final boolean exists(String name) {
    return directory.exists(name);
  }

  @Override
  public final List<String> names() throws IOException {
    return directory.names();
  }

  @Override
  public final void sync() throws IOException {
    directory.sync();
  }

  @Override
  public final boolean lock() throws IOException {
    return directory.lock();
  }

  @Override
  public final Survives survives() {
    return directory.survives();
  }

  @Override
  public final void close() {
    directory.close();
  }
}
