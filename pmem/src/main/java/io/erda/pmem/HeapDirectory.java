package io.erda.pmem;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Named memories in the memory of this process, outside the Java heap: for tests, and for volatile
 * use inside one JVM.
 *
 * <p>A memory lives as long as a directory that knows its name, or an opening of it, can be
 * reached. {@link #anotherView()} gives access to the same memories like that of another process,
 * which starts later or runs beside this one; the views share everything but the lock. No memory
 * survives the JVM, whatever the directory claims.
 */
public final class HeapDirectory implements MemoryDirectory {
  /**
   * The state that all views share. It is also the lock for this state, because views may belong to
   * different threads.
   */
  private static final class Store {
    final long capacity;
    final Survives claim;
    final TreeMap<String, MemorySegment> memories = new TreeMap<>();
    long used;
    HeapDirectory owner;

    Store(long capacity, Survives claim) {
      this.capacity = capacity;
      this.claim = claim;
    }
  }

  private static final class HeapMemory extends SegmentMemory {
    private final Survives claim;

    HeapMemory(MemorySegment segment, Arena arena, Survives claim) {
      super(segment, arena, Backing.none(segment.byteSize()));
      this.claim = claim;
    }

    @Override
    public Survives survives() {
      return claim;
    }

    @Override
    public boolean visibleBeforeDurable() {
      return claim == Survives.POWER_FAILURE;
    }
  }

  private final Store store;
  private final Set<HeapMemory> opened = ConcurrentHashMap.newKeySet();

  /**
   * Makes a directory without a limit on its capacity, which claims {@link Survives#PROCESS_CRASH}.
   */
  public HeapDirectory() {
    this(Long.MAX_VALUE, Survives.PROCESS_CRASH);
  }

  /**
   * @param capacity bytes that all named memories may have together; creation throws {@link
   *     OutOfSpaceException} beyond
   * @param claim what its memories claim to survive. With {@link Survives#POWER_FAILURE} a store is
   *     visible before it is durable, so that a server publishes in the longer way
   */
  public HeapDirectory(long capacity, Survives claim) {
    this(new Store(capacity, Objects.requireNonNull(claim)));
  }

  private HeapDirectory(Store store) {
    this.store = store;
  }

  /** Returns another view of the same named memories, which has a lock and mappings of its own. */
  public HeapDirectory anotherView() {
    return new HeapDirectory(store);
  }

  @Override
  public PersistentMemory create(String name, long length) throws IOException {
    MemoryDirectory.requireName(name);
    MemoryDirectory.requireLength(length);
    synchronized (store) {
      if (store.memories.containsKey(name)) {
        throw new FileAlreadyExistsException(name);
      }
      if (length > store.capacity - store.used) {
        throw outOfSpace(name, length, null);
      }
      store.memories.put(name, allocate(name, length));
      store.used += length;
      assert isCounted() : store.used + " bytes in " + store.memories.size() + " memories";
    }
    return open(name);
  }

  private MemorySegment allocate(String name, long length) throws OutOfSpaceException {
    try {
      return Arena.ofAuto().allocate(length, 4096);
    } catch (OutOfMemoryError e) {
      throw outOfSpace(name, length, e);
    }
  }

  private OutOfSpaceException outOfSpace(String name, long length, Throwable cause) {
    return new OutOfSpaceException(
        name
            + ": no room for "
            + length
            + " bytes: "
            + store.used
            + " of "
            + store.capacity
            + " bytes are in use"
            + (cause == null ? "" : "; " + cause.getMessage()),
        cause);
  }

  /**
   * Opens a separate mapping. Its cleanup action keeps the bytes reachable as long as the mapping
   * is reachable.
   */
  @Override
  public PersistentMemory open(String name) throws IOException {
    MemoryDirectory.requireName(name);
    MemorySegment bytes;
    synchronized (store) {
      bytes = store.memories.get(name);
    }
    if (bytes == null) {
      throw new NoSuchFileException(name);
    }
    Arena arena = Arena.ofShared();
    MemorySegment mapping =
        MemorySegment.ofAddress(bytes.address())
            .reinterpret(bytes.byteSize(), arena, unused -> Objects.requireNonNull(bytes));
    HeapMemory memory = new HeapMemory(mapping, arena, store.claim);
    memory.onClose(() -> opened.remove(memory));
    opened.add(memory);
    return memory;
  }

  @Override
  public void delete(String name) {
    MemoryDirectory.requireName(name);
    synchronized (store) {
      forget(store.memories.remove(name));
      assert isCounted() : store.used + " bytes in " + store.memories.size() + " memories";
    }
  }

  private boolean isCounted() {
    return store.used <= store.capacity
        && store.used == store.memories.values().stream().mapToLong(MemorySegment::byteSize).sum();
  }

  private void forget(MemorySegment memory) {
    store.used -= memory == null ? 0 : memory.byteSize();
  }

  @Override
  public void rename(String from, String to) throws IOException {
    MemoryDirectory.requireName(from);
    MemoryDirectory.requireName(to);
    synchronized (store) {
      MemorySegment memory = store.memories.remove(from);
      if (memory == null) {
        throw new NoSuchFileException(from);
      }
      forget(store.memories.put(to, memory));
      assert isCounted() : store.used + " bytes in " + store.memories.size() + " memories";
    }
  }

  @Override
  public boolean exists(String name) {
    MemoryDirectory.requireName(name);
    synchronized (store) {
      return store.memories.containsKey(name);
    }
  }

  @Override
  public List<String> names() {
    synchronized (store) {
      return List.copyOf(store.memories.keySet());
    }
  }

  @Override
  public void sync() {}

  @Override
  public boolean lock() {
    synchronized (store) {
      if (store.owner == null) {
        store.owner = this;
      }
      return store.owner == this;
    }
  }

  @Override
  public Survives survives() {
    return store.claim;
  }

  /** Does nothing, because these memories survive no failure. */
  @Override
  public void makeDurable() {}

  @Override
  public void close() {
    new HashSet<>(opened).forEach(HeapMemory::close);
    synchronized (store) {
      if (store.owner == this) {
        store.owner = null;
      }
    }
  }
}
