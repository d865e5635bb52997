package io.erda.rdma.rings;

import io.erda.pmem.ReadAhead;
import java.lang.foreign.MemorySegment;

/**
 * A region of the peer as this end accesses it.
 *
 * @param key the remote key by which it was requested
 * @param keyAddress where the registry shows the key while it is valid
 * @param memory the bytes
 * @param writable whether {@code memory} was mapped for WRITEs; a mapping is read-only until the
 *     first WRITE
 * @param address where the memory begins
 * @param length bytes
 * @param access the uses that its owner permits, of {@code Access}
 * @param mapping this connection's mapping of the file, or null
 */
public record RemoteRegion(
    long key,
    long keyAddress,
    MemorySegment memory,
    boolean writable,
    long address,
    long length,
    int access,
    Mapping mapping) {
  /**
   * How a region is mapped.
   *
   * @param inode the inode of the file
   * @param fileOffset where in the file the region begins
   * @param group its group of mappings
   * @param readAhead decides how the pages of all mappings are read
   */
  public record Mapping(long inode, long fileOffset, Mappings.Group group, ReadAhead readAhead) {}

  /** Notes that a range is about to be loaded. */
  void loading(long offset, int bytes) {
    if (mapping != null) {
      mapping.readAhead().loading(memory, offset, bytes);
    }
  }

  /** Notes that a range will be loaded soon, after other ranges. */
  void loadingSoon(long offset, int bytes) {
    if (mapping != null) {
      mapping.readAhead().loadingSoon(memory, offset, bytes);
    }
  }

  boolean contains(long offset, int bytes) {
    return offset >= 0 && bytes >= 0 && bytes <= length - offset;
  }

  /**
   * Whether the memory is a mapping by this connection, which no other code can end, so that it may
   * be used by address as long as the queue pair is open.
   */
  boolean isOurs() {
    return mapping != null;
  }

  /** Returns in words how much of a region's file is left; null when the file was not shortened. */
  public static String describeLoss(String file, long bytes, long needed) {
    return bytes >= needed
        ? null
        : "%s was shortened while it was in use: it has %d of %d bytes"
            .formatted(file, bytes, needed);
  }

  /** Returns the same memory under another key. */
  public RemoteRegion under(long newKey, long newKeyAddress, int newAccess) {
    return new RemoteRegion(
        newKey, newKeyAddress, memory, writable, address, length, newAccess, mapping);
  }
}
