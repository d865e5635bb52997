package io.erda.server.engine;

import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import java.io.IOException;
import java.util.List;

/** Has no room for tables while it is {@link #full}. */
final class FullDirectory implements MemoryDirectory {
  private final MemoryDirectory directory;
  boolean full;

  FullDirectory(MemoryDirectory directory) {
    this.directory = directory;
  }

  @Override
  public PersistentMemory create(String name, long length) throws IOException {
    if (full && name.startsWith("table-")) {
      throw new OutOfSpaceException(name, null);
    }
    return directory.create(name, length);
  }

  @Override
  public PersistentMemory open(String name) throws IOException {
    return directory.open(name);
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
}
