package io.erda.server.engine.files;

import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Root;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;

/**
 * A copy of the record of a clean stop, kept while the store is opened. An opening removes the
 * record before it writes anything. It may then fail without having changed the store, because a
 * region's file is missing, or this user may not read it. Then the record is written again, because
 * without a record the next opening could not detect damage.
 *
 * <p>An opening advances the root's structure counter when it opens a table, which does not change
 * the store. When anything else has changed, the record is not written again.
 */
public final class KeptStop {
  private final MemoryDirectory directory;

  /** The record; null when there is none, or it can't be read. */
  private final MemorySegment record;

  private final MemorySegment root;

  private KeptStop(MemoryDirectory directory, MemorySegment record, MemorySegment root) {
    this.directory = directory;
    this.record = record;
    this.root = root;
  }

  /**
   * Keeps the record of a store that is not open, if there is one that can be read. The caller
   * holds the directory's lock.
   */
  public static KeptStop of(MemoryDirectory directory) {
    try {
      if (directory.exists(StoreFiles.STOPPED)) {
        return new KeptStop(
            directory, copy(directory, StoreFiles.STOPPED), copy(directory, StoreFiles.ROOT));
      }
    } catch (IOException | UncheckedIOException e) {
      // The opening reports the error of the record.
    }
    return new KeptStop(directory, null, null);
  }

  private static MemorySegment copy(MemoryDirectory directory, String name) throws IOException {
    try (PersistentMemory memory = directory.open(name)) {
      MemorySegment file = memory.segment();
      // The copy is an array of longs, because a record is read as words.
      MemorySegment copy =
          MemorySegment.ofArray(new long[Math.toIntExact((file.byteSize() + 7) / 8)])
              .asSlice(0, file.byteSize());
      return copy.copyFrom(file);
    }
  }

  /**
   * Called after a failed opening. Writes the record again if there was one and the store still
   * agrees with it. When the writing fails too, the next opening recovers as after a kill.
   */
  public void putBack() {
    if (record == null) {
      return;
    }
    try {
      if (!directory.exists(StoreFiles.STOPPED)) {
        writeIfUnchanged();
      }
    } catch (IOException | UncheckedIOException | ErdaException e) {
      // This error is ignored, because the user already gets the error of the opening.
    }
  }

  private void writeIfUnchanged() throws IOException {
    Superblock superblock;
    try (PersistentMemory memory = directory.open(StoreFiles.SUPERBLOCK)) {
      superblock = Superblock.load(memory);
    }
    long incarnation = Root.incarnation(root, 0);
    StopRecord.Verdict before =
        StopRecord.check(new WithRoot(directory, root), record, superblock, incarnation);
    if (before.state() == StopRecord.State.PROVEN && onlyTheCounterIsLater()) {
      StopRecord.write(directory, superblock, incarnation);
    }
  }

  private boolean onlyTheCounterIsLater() throws IOException {
    MemorySegment now = copy(directory, StoreFiles.ROOT);
    if (now.byteSize() != root.byteSize() || Root.structureCounter(now, 0) % 2 != 0) {
      return false;
    }
    long counter = Root.STRUCTURE_COUNTER_OFFSET;
    MemorySegment.copy(root, counter, now, counter, Long.BYTES);
    return now.mismatch(root) == -1;
  }

  /** A view of the directory in which the root has its former content. */
  private static final class WithRoot extends ForwardingDirectory {
    private final HeapDirectory former = new HeapDirectory();

    WithRoot(MemoryDirectory directory, MemorySegment root) throws IOException {
      super(directory);
      try (PersistentMemory memory = former.create(StoreFiles.ROOT, root.byteSize())) {
        memory.put(0, root, 0, root.byteSize());
      }
    }

    @Override
    public PersistentMemory open(String name) throws IOException {
      return name.equals(StoreFiles.ROOT) ? former.open(name) : super.open(name);
    }
  }
}
