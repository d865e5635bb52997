package io.erda.simulation;

import io.erda.rdma.MemoryRegion;
import java.lang.foreign.MemorySegment;

/**
 * Registered memory of a simulated device. Remote access goes to the file's image where there is
 * one: it outlives the process.
 */
final class SimulatedRegion implements MemoryRegion {
  final SimulatedDevice device;
  private final MemorySegment memory;
  private final long remoteKey;
  final int access;

  /** What NICs reach: the image of the file, or the memory as registered. */
  final MemorySegment target;

  /** The file behind it, or null for ordinary memory. */
  final SimulatedFile file;

  /** Where the region begins in {@link #target}. */
  final long base;

  boolean registered = true;

  SimulatedRegion(
      SimulatedDevice device,
      MemorySegment memory,
      long remoteKey,
      int access,
      SimulatedFile file) {
    this.device = device;
    this.memory = memory;
    this.remoteKey = remoteKey;
    this.access = access;
    this.file = file;
    this.target = file == null ? memory : file.image;
    this.base = file == null ? 0 : memory.address() - file.image.address();
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
   * The phase of a place within its 8-byte word. Ordinary heap memory counts from its beginning.
   */
  int phase(long offset) {
    return (int) ((target.isNative() ? target.address() + base + offset : base + offset) & 7);
  }
}
