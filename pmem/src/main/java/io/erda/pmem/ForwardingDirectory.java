package io.erda.pmem;

import java.io.IOException;
import java.util.List;
import java.util.Objects;

/**
 * Forwards to another directory: the base of directories that do one thing differently, or wrap the
 * memories (see {@link ForwardingMemory}). Owns that directory: closing this closes it. A subclass
 * that overrides {@link #create} overrides {@link #creating} in the same way.
 */
public abstract class ForwardingDirectory implements MemoryDirectory {
  private final MemoryDirectory directory;

  /** Forwards to {@code directory}. */
  protected ForwardingDirectory(MemoryDirectory directory) {
    this.directory = Objects.requireNonNull(directory);
  }

  /**
   * Returns the memory that callers get for a created or opened memory: the memory itself, unless
   * overridden. A wrapper has no resources of its own: closing the wrapped memory closes the
   * wrapper.
   */
  protected PersistentMemory wrap(String name, PersistentMemory memory) throws IOException {
    return memory;
  }

  @Override
  public PersistentMemory create(String name, long length) throws IOException {
    return wrap(name, directory.create(name, length));
  }

  @Override
  public Creation creating(String name, long length) throws IOException {
    Creation creation = directory.creating(name, length);
    return new Creation() {
      @Override
      public PersistentMemory step() throws IOException {
        PersistentMemory memory = creation.step();
        return memory == null ? null : wrap(name, memory);
      }

      @Override
      public void close() {
        creation.close();
      }
    };
  }

  @Override
  public PersistentMemory open(String name) throws IOException {
    return wrap(name, directory.open(name));
  }

  @Override
  public void lengthen(String name, long length) throws IOException {
    directory.lengthen(name, length);
  }

  @Override
  public void delete(String name) throws IOException {
    directory.delete(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
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
  public void syncNames() throws IOException {
    directory.syncNames();
  }

  @Override
  public boolean lock() throws IOException {
    return directory.lock();
  }

  @Override
  public long usableBytes() {
    return directory.usableBytes();
  }

  @Override
  public boolean readsAlone() {
    return directory.readsAlone();
  }

  @Override
  public int boot() {
    return directory.boot();
  }

  @Override
  public Survives survives() {
    return directory.survives();
  }

  @Override
  public Survives promise(Survives wanted) {
    return directory.promise(wanted);
  }

  @Override
  public String transience() {
    return directory.transience();
  }

  @Override
  public void makeDurable() throws IOException {
    directory.makeDurable();
  }

  @Override
  public void close() {
    directory.close();
  }
}
