package io.erda.server.engine.files;

import io.erda.pmem.PersistentMemory;
import io.erda.protocol.StoreTables;

/**
 * The superblock of an open store, and its file. It stays mapped as long as the store is open:
 * opening a file may fail for a moment, with too many others open, and a resizing of the table
 * can't be undone midway. One thread. Owns the memory.
 */
public final class SuperblockFile implements AutoCloseable {
  private final PersistentMemory memory;
  private Superblock now;

  /**
   * @param now as it is stored in the memory
   */
  public SuperblockFile(PersistentMemory memory, Superblock now) {
    this.memory = memory;
    this.now = now;
  }

  /** The superblock as it is stored now. */
  public Superblock now() {
    return now;
  }

  /**
   * Stores the superblock with other tables. After a failure it may be stored or not, which the
   * next opening finds out.
   */
  public void store(StoreTables changed) {
    Superblock next = now.withTables(changed);
    next.store(memory);
    now = next.stored();
  }

  public PersistentMemory memory() {
    return memory;
  }

  @Override
  public void close() {
    memory.close();
  }
}
