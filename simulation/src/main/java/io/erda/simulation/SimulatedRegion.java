package io.erda.simulation;

import io.erda.rdma.Device;
import io.erda.rdma.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Registered memory of a simulated device. Remote access goes to the file's image if there is one,
 * which outlives the process.
 */
final class SimulatedRegion implements MemoryRegion {
  private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

  final Device device;
  private final MemorySegment memory;
  private final long remoteKey;
  final int access;

  /** The memory that NICs access: the image of the file, or the memory as registered. */
  final MemorySegment target;

  /** The file behind it, or null for ordinary memory. */
  final SimulatedFile file;

  /** Where the region begins in {@link #target}. */
  final long base;

  boolean registered = true;

  SimulatedRegion(
      Device device, MemorySegment memory, long remoteKey, int access, SimulatedFile file) {
    this.device = device;
    this.memory = memory;
    this.remoteKey = remoteKey;
    this.access = access;
    this.file = file;
    this.target = file == null ? memory : file.image;
    this.base = file == null ? 0 : memory.address() - file.image.address();
  }

  /** A region of this device. */
  static SimulatedRegion own(MemoryRegion region, Device device) {
    if (!(region instanceof SimulatedRegion own) || own.device != device) {
      throw new IllegalArgumentException("not a region of this device");
    }
    return own;
  }

  @Override
  public MemorySegment memory() {
    return memory;
  }

  @Override
  public long remoteKey() {
    return remoteKey;
  }

  boolean allows(int needed, long offset, long length) {
    return registered
        && (access & needed) == needed
        && offset >= 0
        && length >= 0
        && offset <= memory.byteSize() - length;
  }

  /**
   * The position of an offset within its 8-byte word. Ordinary heap memory counts from its
   * beginning.
   */
  int phase(long offset) {
    return (int) ((target.isNative() ? target.address() + base + offset : base + offset) & 7);
  }

  /** Whether it belongs to a file of one of these disks. */
  boolean isOn(List<SimulatedDisk> disks) {
    return file != null && disks.contains(file.disk);
  }

  /**
   * Stores the masked bytes of an aligned word as a NIC does. Returns how many bytes changed.
   *
   * @param at in {@link #target}
   */
  int storeWord(long at, long value, long mask) {
    if (file != null) {
      int changed = bytesSet((target.get(SimulatedFile.WORD, at) ^ value) & mask);
      SimulatedMemory.landNicStore(file, (int) (at >>> 3), value, mask);
      return changed;
    }
    int changed = 0;
    for (int i = 0; i < 8; i++) {
      if ((mask >>> (i << 3) & 0xff) != 0) {
        byte now = (byte) (value >>> (i << 3));
        changed += target.get(BYTE, at + i) != now ? 1 : 0;
        target.set(BYTE, at + i, now);
      }
    }
    return changed;
  }

  private static int bytesSet(long difference) {
    int count = 0;
    for (long bits = difference; bits != 0; bits >>>= 8) {
      count += (bits & 0xff) != 0 ? 1 : 0;
    }
    return count;
  }
}
