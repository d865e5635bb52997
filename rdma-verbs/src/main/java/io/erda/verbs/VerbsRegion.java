package io.erda.verbs;

import com.ibm.disni.verbs.IbvMr;
import io.erda.rdma.MemoryRegion;
import io.erda.verbs.ffm.Offered;
import java.lang.foreign.MemorySegment;

/**
 * Registered memory. Its remote key says all that a requester needs, and hardware checks all of it:
 *
 * <pre>
 *  63           62           44 43         32 31            0
 * | persistent | generation    | page offset | rkey          |
 * </pre>
 *
 * <p>The region is registered under the address that is left of the rkey, with the generation at
 * bit 40: so a key of an earlier region is out of bounds even where hardware gave its rkey again.
 */
final class VerbsRegion implements MemoryRegion {
  static final int GENERATIONS = 1 << 19;
  private static final long PERSISTENT = 1L << 59;
  private static final int OFFSET_BITS = 40;
  private static final long PAGE_MASK = 4095;

  private final VerbsDevice owner;
  private final MemorySegment memory;
  private final boolean remote;
  final IbvMr mr;
  final int lkey;

  /** What requests name its first byte by, here and at a peer. */
  final long iova;

  private final long size;

  VerbsRegion(VerbsDevice owner, MemorySegment memory, boolean remote, IbvMr mr, long iova) {
    this.owner = owner;
    this.memory = memory;
    this.remote = remote;
    this.mr = mr;
    this.lkey = mr.getLkey();
    this.iova = iova;
    this.size = memory.byteSize();
  }

  static long iova(int generation, boolean persistent, long address) {
    long iova = (long) generation << OFFSET_BITS | address & PAGE_MASK;
    return persistent ? iova | PERSISTENT : iova;
  }

  /** What a FLUSH of the region asks for: all that it allows. */
  static int flushType(long remoteKey) {
    return remoteKey < 0
        ? Offered.FLUSH_GLOBAL | Offered.FLUSH_PERSISTENT
        : Offered.FLUSH_GLOBAL;
  }

  /** The region behind what a caller passed; a mistake of the caller's throws. */
  static VerbsRegion of(MemoryRegion region, VerbsDevice device, long offset, int length) {
    if (!(region instanceof VerbsRegion local) || local.owner != device) {
      throw new IllegalArgumentException("local memory is not registered with this device");
    }
    if ((offset | length) < 0 || length > local.size - offset) {
      throw new IndexOutOfBoundsException(
          "local [" + offset + ", +" + length + ") of " + local.size + " bytes");
    }
    return local;
  }

  static int rkey(long remoteKey) {
    return (int) remoteKey;
  }

  /** Where a peer's range begins; negative when it can't be one. */
  static long remoteAddress(long remoteKey, long offset, int length) {
    if (remoteKey == 0 || offset < 0 || offset > (1L << OFFSET_BITS) - PAGE_MASK - length) {
      return -1;
    }
    return (remoteKey >>> 44 << OFFSET_BITS | remoteKey >>> 32 & PAGE_MASK) + offset;
  }

  @Override
  public MemorySegment memory() {
    return memory;
  }

  @Override
  public long remoteKey() {
    return remote
        ? iova >>> OFFSET_BITS << 44 | (iova & PAGE_MASK) << 32 | mr.getRkey() & 0xffff_ffffL
        : 0;
  }
}
