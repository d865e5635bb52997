package io.erda.simulation.system;

import io.erda.hashtable.VersionWord;
import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.StoreTables;
import io.erda.protocol.SuperblockLayout;
import io.erda.rdma.Device;
import io.erda.rdma.Flags;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Work;
import io.erda.rdma.testing.ForwardingDevice;
import io.erda.rdma.testing.ForwardingQueuePair;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/** Common parts of the mutants of the table's doubling and halving. */
final class TableMutants {
  private static final long STRETCH_AT = 128;
  private static final long ENTRIES_AT = 4096;

  /** A mutant. It has no defect unless a method is overridden. */
  abstract static class Mutant {
    /** The server is being started. */
    boolean recovering;

    boolean drops(String name, long offset, long value) {
      return false;
    }

    void mapped(MemoryDirectory directory, String name) throws IOException {}

    QueuePair ofClient(QueuePair queuePair) {
      return queuePair;
    }
  }

  /** A mutant that knows the tables of its store. */
  abstract static class WithTables extends Mutant {
    private MemoryDirectory directory;

    @Override
    final void mapped(MemoryDirectory over, String name) {
      directory = over;
    }

    /** Those that the superblock names. */
    final StoreTables tables() {
      try {
        if (directory == null || !directory.exists(SuperblockLayout.FILE)) {
          return StoreTables.first(2);
        }
        try (PersistentMemory memory = directory.open(SuperblockLayout.FILE)) {
          return SuperblockLayout.newest(memory.segment()).tables();
        }
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    /** The file of the table that there is, or whose entries are moved. */
    static String fileOf(StoreTables tables) {
      return SuperblockLayout.table(tables.generation());
    }

    /** Whether a word of a table is that of an entry that was moved. */
    final boolean isMoved(String name, long offset) {
      try (PersistentMemory memory = directory.open(name)) {
        return memory.segment().get(ValueLayout.JAVA_LONG, offset) == VersionWord.MOVED;
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }
  }

  /** Whether a word lies among the entries of a table. */
  static boolean isEntry(String name, long offset) {
    return name.startsWith(SuperblockLayout.TABLE_PREFIX) && offset >= ENTRIES_AT;
  }

  /** Whether a word is the stretch word of a table, which names the slots that are being moved. */
  static boolean isStretch(String name, long offset) {
    return name.startsWith(SuperblockLayout.TABLE_PREFIX) && offset == STRETCH_AT;
  }

  record MutantStore(StoreUnderTest store, Mutant mutant) implements StoreUnderTest {
    @Override
    public Server start(
        MemoryDirectory directory,
        Device device,
        String address,
        List<Device> abandoned,
        LongSupplier nanoTime,
        RandomGenerator random)
        throws IOException {
      mutant.recovering = true;
      Server server = store.start(directory, device, address, abandoned, nanoTime, random);
      mutant.recovering = false;
      return server;
    }

    @Override
    public Server startDamaged(
        MemoryDirectory directory,
        Device device,
        String address,
        LongSupplier nanoTime,
        RandomGenerator random,
        BiConsumer<byte[], String> findings)
        throws IOException {
      mutant.recovering = true;
      Server server = store.startDamaged(directory, device, address, nanoTime, random, findings);
      mutant.recovering = false;
      return server;
    }

    @Override
    public void inspect(
        MemoryDirectory directory, RandomGenerator random, BiConsumer<byte[], String> findings) {
      store.inspect(directory, random, findings);
    }

    @Override
    public Client connect(
        Device device, String address, LongSupplier nanoTime, ClientEvents events) {
      return store.connect(new MutantDevice(device, mutant), address, nanoTime, events);
    }
  }

  /** Never READs the second of two neighbourhoods. */
  static final class OldAlone extends Forwarding {
    private boolean afterNeighbourhood;

    OldAlone(QueuePair queuePair) {
      super(queuePair);
    }

    @Override
    boolean read(Work read) {
      boolean neighbourhood = isNeighbourhood(read);
      if (neighbourhood && afterNeighbourhood) {
        return true;
      }
      boolean posted = forward(read);
      afterNeighbourhood = posted ? neighbourhood : afterNeighbourhood;
      return posted;
    }
  }

  /** READs both, the second some steps after the first: the queue is full in between. */
  static final class Slow extends Forwarding {
    private boolean afterNeighbourhood;
    private int refusals;

    Slow(QueuePair queuePair) {
      super(queuePair);
    }

    @Override
    boolean read(Work read) {
      boolean neighbourhood = isNeighbourhood(read);
      if (neighbourhood && afterNeighbourhood && refusals < REFUSALS) {
        refusals++;
        return false;
      }
      boolean posted = forward(read);
      if (posted) {
        afterNeighbourhood = neighbourhood;
        refusals = 0;
      }
      return posted;
    }
  }

  /** READs the second of two neighbourhoods before the first, with the same pause in between. */
  static final class NewFirst extends Forwarding {
    private Work held;
    private boolean swapped;
    private int refusals;

    NewFirst(QueuePair queuePair) {
      super(queuePair);
    }

    @Override
    boolean read(Work read) {
      if (isNeighbourhood(read) && held == null) {
        held = Work.read().set(read);
        return true;
      }
      if (isNeighbourhood(read) && !swapped) {
        swapped = forward(read);
        return swapped;
      }
      if (held != null) {
        if (swapped && refusals++ < REFUSALS) {
          return false;
        }
        if (!forward(held)) {
          return false;
        }
        held = null;
        swapped = false;
        refusals = 0;
      }
      return forward(read);
    }
  }

  private abstract static class Forwarding extends ForwardingQueuePair {
    static final int NEIGHBOURHOOD_BYTES = 256;

    /** Steps that the queue seems full between two neighbourhoods. */
    static final int REFUSALS = 4;

    /**
     * Whether a READ is that of a neighbourhood. A READ of an object of this length reports a
     * completion.
     */
    static boolean isNeighbourhood(Work read) {
      return read.length == NEIGHBOURHOOD_BYTES && (read.flags & Flags.SIGNALED) == 0;
    }

    Forwarding(QueuePair queuePair) {
      super(queuePair);
    }

    /** Posts a READ, or does what is wrong with it. */
    abstract boolean read(Work read);

    @Override
    public final boolean post(Work work) {
      return work.opcode == Opcode.READ ? read(work) : forward(work);
    }

    final boolean forward(Work work) {
      return super.post(work);
    }
  }

  static final class MutantDevice extends ForwardingDevice {
    private final Mutant mutant;

    MutantDevice(Device device, Mutant mutant) {
      super(device);
      this.mutant = mutant;
    }

    @Override
    public QueuePair connect(String address, MemorySegment privateData, Duration timeout) {
      return mutant.ofClient(super.connect(address, privateData, timeout));
    }
  }

  static final class MutantMemory extends ForwardingMemory {
    private final String name;
    private final Mutant mutant;

    MutantMemory(PersistentMemory memory, String name, Mutant mutant) {
      super(memory);
      this.name = name;
      this.mutant = mutant;
    }

    @Override
    public void putLongRelease(long offset, long value) {
      if (!mutant.drops(name, offset, value)) {
        super.putLongRelease(offset, value);
      }
    }

    @Override
    public boolean compareAndSetLong(long offset, long expected, long value) {
      return mutant.drops(name, offset, value) || super.compareAndSetLong(offset, expected, value);
    }
  }

  static final class MutantDirectory extends ForwardingDirectory {
    private final Mutant mutant;

    MutantDirectory(MemoryDirectory directory, Mutant mutant) {
      super(directory);
      this.mutant = mutant;
    }

    @Override
    protected PersistentMemory wrap(String name, PersistentMemory memory) throws IOException {
      mutant.mapped(this, name);
      return new MutantMemory(memory, name, mutant);
    }
  }

  private TableMutants() {}
}
