package io.erda.simulation;

import io.erda.pmem.Backing;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.random.RandomGenerator;

/**
 * One process's mapping of a file on a {@link SimulatedDisk}.
 *
 * <p>A crash that was requested strikes inside a store, flush or drain, after a seeded part of it;
 * from then on this mapping refuses every store with {@link SimulatedCrash}, since its process is
 * dead. Loads still work, for examining a dead process.
 */
public final class SimulatedMemory implements PersistentMemory {
  private static final ValueLayout.OfLong UNALIGNED =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final SimulatedFile file;
  private final SimulatedDisk disk;
  private final long incarnation;

  /** Whether flushes and drains make anything durable. */
  private final boolean keepsPromise;

  private final Arena arena;
  private final MemorySegment segment;
  private final Runnable onClose;
  private boolean closed;

  SimulatedMemory(
      SimulatedFile file, long incarnation, boolean keepsPromise, Arena arena, Runnable onClose) {
    this.file = file;
    this.keepsPromise = keepsPromise;
    this.disk = file.disk;
    this.incarnation = incarnation;
    this.arena = arena;
    this.segment = view(file, arena);
    this.onClose = onClose;
  }

  private static MemorySegment view(SimulatedFile file, Arena arena) {
    // The cleanup action refers to the file, so that its memory lives as long as this view.
    MemorySegment whole = MemorySegment.ofAddress(file.image.address());
    return whole.reinterpret(file.length(), arena, ignored -> Objects.requireNonNull(file));
  }

  SimulatedFile file() {
    return file;
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public void put(long offset, MemorySegment source, long sourceOffset, long length) {
    synchronized (disk) {
      putLocked(offset, source, sourceOffset, length);
    }
  }

  private void putLocked(long offset, MemorySegment source, long sourceOffset, long length) {
    Objects.checkFromIndexSize(offset, length, file.length());
    Objects.checkFromIndexSize(sourceOffset, length, source.byteSize());
    checkOpen();
    boolean crash = disk.event(incarnation, SimulatedDisk.Event.STORE, file, offset);
    disk.countStore(length);
    RandomGenerator random = disk.random;
    int part = crash ? random.nextInt(9) : 8;
    int first = (int) (offset >>> 3);
    int end = (int) ((offset + length + 7) >>> 3);
    for (int i = 0; i < end - first; i++) {
      if (part == 8 || random.nextInt(8) < part) {
        putWord(first + i, offset, source, sourceOffset, length);
      }
    }
    if (crash) {
      disk.strike();
    }
  }

  private void putWord(
      int word, long offset, MemorySegment source, long sourceOffset, long length) {
    long at = (long) word << 3;
    long from = at - offset + sourceOffset;
    if (at >= offset && at + 8 <= offset + length) {
      file.storeWord(word, source.get(UNALIGNED, from));
      return;
    }
    long value = 0;
    long mask = 0;
    for (int i = 0; i < 8; i++) {
      long place = at + i;
      if (place >= offset && place < offset + length) {
        value |= (source.get(ValueLayout.JAVA_BYTE, from + i) & 0xffL) << (i << 3);
        mask |= 0xffL << (i << 3);
      }
    }
    file.storeMasked(word, value, mask);
  }

  @Override
  public void putLongRelease(long offset, long value) {
    synchronized (disk) {
      putLongReleaseLocked(offset, value);
    }
  }

  @Override
  public boolean compareAndSetLong(long offset, long expected, long value) {
    synchronized (disk) {
      checkWord(offset);
      boolean stores = segment.get(UNALIGNED, offset) == expected;
      if (stores) {
        putLongReleaseLocked(offset, value);
      }
      return stores;
    }
  }

  private void checkWord(long offset) {
    Objects.checkFromIndexSize(offset, 8, file.length());
    if ((offset & 7) != 0) {
      throw new IllegalArgumentException("offset " + offset + " is not 8-aligned");
    }
  }

  private void putLongReleaseLocked(long offset, long value) {
    checkWord(offset);
    checkOpen();
    boolean crash = disk.event(incarnation, SimulatedDisk.Event.STORE, file, offset);
    disk.countStore(8);
    if (!crash || disk.random.nextBoolean()) {
      file.storeWord((int) (offset >>> 3), value);
    }
    if (crash) {
      disk.strike();
    }
  }

  @Override
  public void flush(long offset, long length) {
    synchronized (disk) {
      flushLocked(offset, length);
    }
  }

  private void flushLocked(long offset, long length) {
    Objects.checkFromIndexSize(offset, length, file.length());
    checkOpen();
    boolean crash = disk.event(incarnation, SimulatedDisk.Event.FLUSH, file, offset);
    disk.countFlush();
    int part = crash ? disk.random.nextInt(9) : 8;
    // Whole cache lines, as the instruction does.
    int first = length == 0 ? 0 : (int) (offset >>> 6) << 3;
    int end = length == 0 ? 0 : (int) ((offset + length + 63) >>> 6) << 3;
    int words = (int) ((file.length() + 7) >>> 3);
    for (int word = first; keepsPromise && word < Math.min(end, words); word++) {
      if (part == 8 || disk.random.nextInt(8) < part) {
        file.flushWord(word);
      }
    }
    if (crash) {
      disk.strike();
    }
  }

  @Override
  public void drain() {
    boolean crash;
    synchronized (disk) {
      checkOpen();
      crash = disk.event(incarnation, SimulatedDisk.Event.DRAIN, file, 0);
      disk.countDrain();
    }
    // This is done also before a crash, so that other processes see the stores of the interrupted
    // drain. They may run on other threads.
    disk.waits(incarnation);
    synchronized (disk) {
      drainLocked(crash);
    }
  }

  private void drainLocked(boolean crash) {
    if (keepsPromise && !crash && disk.failsDrain(file)) {
      IOException reason = new IOException("Input/output error");
      throw new UncheckedIOException(file.name + ": msync failed", reason);
    }
    if (keepsPromise && (!crash || disk.random.nextBoolean())) {
      file.drain();
    }
    if (crash) {
      disk.strike();
    }
  }

  /**
   * Stores a part of a word as a NIC does: this is no event of the process, and the process's death
   * does not stop it. Durable as the persistence domain says; a flush by the process covers it.
   */
  static void landNicStore(SimulatedFile file, int word, long value, long mask) {
    file.disk.countNicWord();
    file.storeMasked(word, value, mask);
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("memory " + file.name + " is closed");
    }
  }

  @Override
  public Survives survives() {
    return keepsPromise ? disk.domain.survives() : Survives.PROCESS_CRASH;
  }

  @Override
  public boolean visibleBeforeDurable() {
    return keepsPromise && disk.domain.visibleBeforeDurable();
  }

  @Override
  public Backing backing() {
    return Backing.none(file.length());
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      arena.close();
      onClose.run();
    }
  }
}
