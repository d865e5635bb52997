package io.erda.client.files;

import io.erda.logstore.LogGeometry;
import io.erda.pmem.NotAMemoryException;
import io.erda.pmem.ReadableDirectory;
import io.erda.pmem.ReadableFile;
import io.erda.protocol.Promise;
import io.erda.protocol.PutMode;
import io.erda.protocol.Root;
import io.erda.protocol.StoreTables;
import io.erda.protocol.SuperblockLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * Files in memory that one process reads while another one stores: before each load the other one
 * may take a step.
 */
public final class SteppedFiles implements ReadableDirectory {
  static final UUID STORE = new UUID(1, 2);
  static final LogGeometry GEOMETRY = new LogGeometry(1, 1 << 16, 1 << 13, 4);
  static final long BUCKETS = 64;
  static final int BOOT = 7;

  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  final Map<String, MemorySegment> files = new HashMap<>();
  private Runnable before = () -> {};
  private long sequence;
  private boolean busy;
  volatile int open;

  /** A file that is there and can't be opened now; null: none. */
  String unreadable;

  /** A name that leads to something that is no file; null: none. */
  String directory;

  /** A store that is served: one table, nothing linked. */
  public SteppedFiles() {
    make(Root.FILE, 4096);
    make(SuperblockLayout.FILE, SuperblockLayout.BYTES);
    MemorySegment regions = make("regions", 4096 + 64 * GEOMETRY.regionsMax());
    regions.set(WORD, 0, 0x5467_6F4C_6164_7245L);
    regions.set(INT, 8, 1);
    regions.set(WORD, 16, STORE.getMostSignificantBits());
    regions.set(WORD, 24, STORE.getLeastSignificantBits());
    regions.set(INT, 32, GEOMETRY.heads());
    regions.set(INT, 36, GEOMETRY.segmentBytes());
    regions.set(WORD, 40, GEOMETRY.regionBytes());
    regions.set(INT, 48, GEOMETRY.regionsMax());
    CRC32C crc = new CRC32C();
    crc.update(regions.asSlice(0, 64).toArray(ValueLayout.JAVA_BYTE));
    regions.set(INT, 12, (int) crc.getValue());
    root(Root.INCARNATION_OFFSET, 1);
    root(Root.EPOCH_OFFSET, 1);
    root(Root.BOOT_OFFSET, BOOT);
    superblock(1, false).run();
  }

  /** How many of them are open, the directory among them. */
  public int open() {
    return open;
  }

  MemorySegment make(String name, long bytes) {
    MemorySegment file = MemorySegment.ofArray(new long[(int) (bytes / Long.BYTES)]);
    files.put(name, file);
    return file;
  }

  /** Sets what happens before each load. */
  void beforeEachLoad(Runnable action) {
    before = action;
  }

  void root(int offset, long value) {
    files.get(Root.FILE).set(WORD, offset, value);
  }

  void link(int slot, int state, int index, int generation) {
    long word = state == 0 ? 0 : (long) state << 56 | (long) index << 32 | generation;
    files.get("regions").set(WORD, 4096 + 64L * slot, word);
  }

  /** Stores both copies; between them the other one may be READ, and so may the half of each. */
  Runnable superblock(int generation, boolean doubling) {
    Runnable[] halves = superblockInSteps(generation, doubling);
    return () -> {
      for (Runnable half : halves) {
        half.run();
      }
    };
  }

  private static StoreTables tables(int generation, boolean doubling) {
    long buckets = BUCKETS << generation - 1;
    StoreTables tables = new StoreTables(generation, buckets, 0, 0, generation, BUCKETS);
    return doubling ? tables.withNext(2 * buckets) : tables;
  }

  Runnable[] superblockInSteps(int generation, boolean doubling) {
    Runnable[] steps = new Runnable[4];
    for (int copy = 0; copy < 2; copy++) {
      long at = ++sequence;
      MemorySegment bytes =
          SuperblockLayout.encode(
              new SuperblockLayout.Fields(
                  at,
                  STORE,
                  GEOMETRY.heads(),
                  GEOMETRY.segmentBytes(),
                  GEOMETRY.regionBytes(),
                  GEOMETRY.regionsMax(),
                  GEOMETRY.resizedSlots(),
                  tables(generation, doubling),
                  42,
                  Promise.PROCESS,
                  PutMode.PUBLISH));
      for (int half = 0; half < 2; half++) {
        long from = half == 0 ? 0 : 64;
        long length = half == 0 ? 64 : SuperblockLayout.COPY_BYTES - 64;
        steps[2 * copy + half] =
            () ->
                MemorySegment.copy(
                    bytes,
                    from,
                    files.get(SuperblockLayout.FILE),
                    SuperblockLayout.copyAt(at) + from,
                    length);
      }
    }
    return steps;
  }

  private void step() {
    if (!busy) {
      busy = true;
      before.run();
      busy = false;
    }
  }

  @Override
  public ReadableFile open(String name) throws IOException {
    MemorySegment file = files.get(name);
    if (file == null) {
      throw new NoSuchFileException(name);
    }
    if (name.equals(unreadable)) {
      throw new FileSystemException(name, null, "open: Too many open files (errno 24)");
    }
    if (name.equals(directory)) {
      throw new NotAMemoryException(Path.of(name), "not a regular file");
    }
    open++;
    return new File(name, file);
  }

  @Override
  public int boot() {
    return BOOT;
  }

  @Override
  public void close() {}

  private final class File implements ReadableFile {
    private final String name;
    private final MemorySegment memory;
    private boolean closed;

    File(String name, MemorySegment memory) {
      this.name = name;
      this.memory = memory;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public long length() {
      return memory.byteSize();
    }

    @Override
    public long word(long offset) {
      step();
      return memory.get(WORD, offset);
    }

    /** Half of it, the other half after another step. */
    @Override
    public void load(long offset, MemorySegment to, long toOffset, int length) {
      int half = length / 2 & -8;
      step();
      MemorySegment.copy(memory, offset, to, toOffset, half);
      step();
      MemorySegment.copy(memory, offset + half, to, toOffset + half, length - half);
    }

    @Override
    public boolean isCurrent() {
      return files.get(name).equals(memory);
    }

    @Override
    public void close() {
      if (!closed) {
        closed = true;
        open--;
      }
    }
  }
}
