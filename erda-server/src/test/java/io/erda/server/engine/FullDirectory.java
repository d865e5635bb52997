package io.erda.server.engine;

import io.erda.pmem.Creation;
import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;

/** Has no room for tables while it is {@link #full}. */
public final class FullDirectory extends ForwardingDirectory {
  public boolean full;

  public FullDirectory(MemoryDirectory directory) {
    super(directory);
  }

  @Override
  public PersistentMemory create(String name, long length) throws IOException {
    requireRoom(name);
    return super.create(name, length);
  }

  @Override
  public Creation creating(String name, long length) throws IOException {
    requireRoom(name);
    return super.creating(name, length);
  }

  private void requireRoom(String name) throws OutOfSpaceException {
    if (full && name.startsWith("table-")) {
      throw new OutOfSpaceException(name, null);
    }
  }
}
