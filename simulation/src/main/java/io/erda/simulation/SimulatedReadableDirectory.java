package io.erda.simulation;

import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.ReadableDirectory;
import io.erda.pmem.ReadableFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;

/**
 * The files of a {@link SimulatedDisk} for another process of the host that may only read. Loads
 * happen in the caller's thread, piece by piece, while all others go on.
 */
public final class SimulatedReadableDirectory implements ReadableDirectory {
  private static final ValueLayout.OfLong LOCAL_WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final SimulatedDisk disk;
  private final VirtualTime time;
  private final NetworkModel model;
  private final RandomGenerator random;
  private final BooleanSupplier crashed;

  /**
   * @param model for the pieces and spread of the loads
   * @param crashed whether the reading process has ended
   */
  public SimulatedReadableDirectory(
      SimulatedDisk disk,
      VirtualTime time,
      NetworkModel model,
      RandomGenerator random,
      BooleanSupplier crashed) {
    this.disk = disk;
    this.time = time;
    this.model = model;
    this.random = random;
    this.crashed = crashed;
  }

  @Override
  public ReadableFile open(String name) throws IOException {
    MemoryDirectory.requireName(name);
    othersGoOn();
    return new File(name, disk.find(name));
  }

  @Override
  public int boot() {
    return disk.boot();
  }

  @Override
  public void close() {}

  private void othersGoOn() {
    if (random.nextBoolean()) {
      time.runFor(random.nextLong(model.spreadNs() + 1));
    }
    if (crashed.getAsBoolean()) {
      throw new SimulatedCrash("the process ended while it read");
    }
  }

  private final class File implements ReadableFile {
    private final String name;
    private final SimulatedFile file;

    /** The length when it was opened; it may have grown since. */
    private final long length;

    private boolean closed;

    File(String name, SimulatedFile file) {
      this.name = name;
      this.file = file;
      this.length = file.length();
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public long length() {
      return length;
    }

    @Override
    public long word(long offset) {
      require(offset, Long.BYTES);
      othersGoOn();
      return file.image.get(SimulatedFile.WORD, offset);
    }

    @Override
    public void load(long offset, MemorySegment to, long toOffset, int length) {
      require(offset, length);
      int count = random.nextInt(1, model.piecesMax() + 1);
      Pieces pieces = new Pieces(count, random.nextInt(), -1);
      int phase = (int) (offset & 7);
      int words = (phase + length + 7) >>> 3;
      for (int piece = 0; piece < count; piece++) {
        othersGoOn();
        for (int word = 0; word < words; word++) {
          if (pieces.pieceOf(word, words) == piece) {
            int from = Math.max(0, (word << 3) - phase);
            int end = Math.min(length, (word << 3) + 8 - phase);
            move(offset + from, to, toOffset + from, end - from);
          }
        }
      }
      othersGoOn();
    }

    private void move(long from, MemorySegment to, long toOffset, int bytes) {
      if (bytes == Long.BYTES) {
        to.set(LOCAL_WORD, toOffset, file.image.get(SimulatedFile.WORD, from));
      } else {
        MemorySegment.copy(file.image, from, to, toOffset, bytes);
      }
    }

    private void require(long offset, int bytes) {
      if (closed || offset < 0 || bytes < 0 || bytes > length - offset) {
        throw new IndexOutOfBoundsException(
            name + ": " + bytes + " bytes at " + offset + (closed ? ", closed" : ""));
      }
    }

    @Override
    public boolean isCurrent() {
      try {
        return disk.find(name) == file;
      } catch (IOException e) {
        return false;
      }
    }

    @Override
    public void close() {
      closed = true;
    }
  }
}
