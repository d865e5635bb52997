package io.erda.server.engine.files;

import io.erda.hashtable.StructureCounter;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.Protocol;
import io.erda.protocol.Root;
import java.lang.invoke.VarHandle;

/**
 * The root as its only writer, the server, uses it. The file of the root is never replaced. Borrows
 * its memory.
 */
public final class RootFile implements StructureCounter {
  public static final long BYTES = 4096;

  private final PersistentMemory memory;

  public RootFile(PersistentMemory memory) {
    this.memory = memory;
  }

  public PersistentMemory memory() {
    return memory;
  }

  public long incarnation() {
    return Root.incarnation(memory.segment(), 0);
  }

  public long epoch() {
    return Root.epoch(memory.segment(), 0);
  }

  public long structureCounter() {
    return Root.structureCounter(memory.segment(), 0);
  }

  /**
   * Begins a new incarnation, durably. From now on readers of an earlier incarnation reject the
   * bytes that they read. Called before the first connection is accepted, because reservations and
   * connections are numbered after it.
   *
   * @param boot the boot of the machine, see {@link io.erda.pmem.MemoryDirectory#boot}: until now
   *     clients that only read the files saw that the store was not recovered since that boot
   */
  public void beginIncarnation(int boot) {
    store(Root.LAYOUT_VERSION_OFFSET, Protocol.LAYOUT_VERSION);
    store(Root.BOOT_OFFSET, boot);
    store(Root.INCARNATION_OFFSET, incarnation() + 1);
    memory.drain();
  }

  /**
   * Marks the store as one whose files are not read by their names until a server has opened it,
   * because some of the names lead to other files.
   */
  public void forsake() {
    store(Root.BOOT_OFFSET, Root.NO_BOOT);
  }

  /**
   * Begins a new epoch, durably. Called before any word may name a region or table that is new in
   * the map.
   */
  public void nextEpoch() {
    store(Root.EPOCH_OFFSET, epoch() + 1);
    memory.drain();
  }

  @Override
  public void beginMove() {
    store(Root.STRUCTURE_COUNTER_OFFSET, structureCounter() | 1);
    // The store of the counter has release semantics, so without this fence later plain stores
    // could become visible before it.
    VarHandle.storeStoreFence();
  }

  @Override
  public void endMove() {
    assert (structureCounter() & 1) != 0 : "no move began: " + structureCounter();
    store(Root.STRUCTURE_COUNTER_OFFSET, (structureCounter() | 1) + 1);
  }

  private void store(long offset, long value) {
    memory.putLongRelease(offset, value);
    memory.flush(offset, Long.BYTES);
  }
}
