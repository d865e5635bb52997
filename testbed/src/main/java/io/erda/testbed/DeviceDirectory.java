package io.erda.testbed;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A directory on a device of persistent memory without a file system. Only for an emulated machine,
 * see {@link DeviceMemory}. One process uses it at a time.
 *
 * <pre>
 *    0  the turn: the table in force is that of (turn mod 2)
 *  4 K  table 0: entries of 64 bytes: offset, length, name, filled with zeros
 * 20 K  table 1
 * 36 K  memories, each whole pages
 * </pre>
 *
 * <p>A change writes the other table and then the turn, so it takes effect in one step.
 */
final class DeviceDirectory implements MemoryDirectory {
  private static final int PAGE = 4096;
  private static final int TABLE_BYTES = 16 << 10;
  private static final int ENTRY_BYTES = 64;
  private static final int NAME_AT = 16;
  private static final long FIRST = PAGE + 2 * TABLE_BYTES;
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle TURN = LONG.varHandle();

  /** The place of a memory. */
  private record Extent(long offset, long length) {
    private long end() {
      return offset + length + PAGE - 1 & -PAGE;
    }
  }

  private final MemorySegment device;
  private final TreeMap<String, Extent> names = new TreeMap<>();

  /**
   * Memories that were opened and not closed: their bytes stay allocated even when the name is
   * deleted.
   */
  private final Set<DeviceMemory> opened = new HashSet<>();

  /** Reads the names. A device of zeros has none. */
  DeviceDirectory(MemorySegment device) {
    this.device = device;
    MemorySegment table = table(turn());
    for (long at = 0; at < TABLE_BYTES && table.get(LONG, at + 8) != 0; at += ENTRY_BYTES) {
      names.put(
          table.asSlice(at + NAME_AT, ENTRY_BYTES - NAME_AT).getString(0, US_ASCII),
          new Extent(table.get(LONG, at), table.get(LONG, at + 8)));
    }
  }

  private long turn() {
    return (long) TURN.getAcquire(device, 0L);
  }

  private MemorySegment table(long turn) {
    return device.asSlice(PAGE + (turn & 1) * TABLE_BYTES, TABLE_BYTES);
  }

  private void publish() {
    long turn = turn() + 1;
    MemorySegment table = table(turn);
    table.fill((byte) 0);
    long[] at = {0};
    names.forEach((name, extent) -> {
      table.set(LONG, at[0], extent.offset());
      table.set(LONG, at[0] + 8, extent.length());
      table.asSlice(at[0] + NAME_AT, ENTRY_BYTES - NAME_AT).setString(0, name, US_ASCII);
      at[0] += ENTRY_BYTES;
    });
    TURN.setRelease(device, 0L, turn);
  }

  @Override
  public PersistentMemory create(String name, long length) throws IOException {
    MemoryDirectory.requireName(name);
    MemoryDirectory.requireLength(length);
    if (names.containsKey(name)) {
      throw new FileAlreadyExistsException(name);
    }
    if (name.length() >= ENTRY_BYTES - NAME_AT || (names.size() + 1) * ENTRY_BYTES >= TABLE_BYTES) {
      throw new IOException("no room for the name " + name);
    }
    Extent extent = free(length);
    device.asSlice(extent.offset(), length).fill((byte) 0);
    names.put(name, extent);
    publish();
    return open(name);
  }

  /** The first free place. */
  private Extent free(long length) throws OutOfSpaceException {
    TreeSet<Extent> taken = new TreeSet<>((a, b) -> Long.compare(a.offset(), b.offset()));
    taken.addAll(names.values());
    for (DeviceMemory memory : opened) {
      long offset = memory.segment().address() - device.address();
      taken.add(new Extent(offset, memory.segment().byteSize()));
    }
    Extent candidate = new Extent(FIRST, length);
    for (Extent each : taken) {
      if (candidate.end() <= each.offset()) {
        break;
      }
      candidate = new Extent(Math.max(candidate.offset(), each.end()), length);
    }
    if (candidate.end() > device.byteSize()) {
      throw new OutOfSpaceException("the device has no room for " + length + " bytes", null);
    }
    return candidate;
  }

  @Override
  public PersistentMemory open(String name) throws IOException {
    MemoryDirectory.requireName(name);
    Extent extent = names.get(name);
    if (extent == null) {
      throw new NoSuchFileException(name);
    }
    DeviceMemory memory =
        new DeviceMemory(device.asSlice(extent.offset(), extent.length()), opened::remove);
    opened.add(memory);
    return memory;
  }

  @Override
  public void delete(String name) {
    MemoryDirectory.requireName(name);
    if (names.remove(name) != null) {
      publish();
    }
  }

  @Override
  public void rename(String from, String to) throws IOException {
    MemoryDirectory.requireName(to);
    Extent extent = names.remove(from);
    if (extent == null) {
      throw new NoSuchFileException(from);
    }
    names.put(to, extent);
    publish();
  }

  @Override
  public boolean exists(String name) {
    MemoryDirectory.requireName(name);
    return names.containsKey(name);
  }

  @Override
  public List<String> names() {
    return List.copyOf(names.keySet());
  }

  /** Does nothing: a change is durable when it is made. */
  @Override
  public void sync() {}

  /** Always succeeds: the caller ensures that only one process uses the device. */
  @Override
  public boolean lock() {
    return true;
  }

  @Override
  public Survives survives() {
    return Survives.POWER_FAILURE;
  }

  @Override
  public void makeDurable() {}

  @Override
  public void close() {
    List.copyOf(opened).forEach(DeviceMemory::close);
  }
}
