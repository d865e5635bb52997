package io.erda.verbs;

import com.ibm.disni.verbs.IbvMr;
import io.erda.rdma.MemoryRegion;
import io.erda.verbs.ffm.Alias;
import io.erda.verbs.ffm.Offered;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Registered memory. Its remote key contains all numbers that a requester needs, and the hardware
 * checks them:
 *
 * <pre>
 *  63  62           44 43         32 31            0
 * | 0 | generation    | page offset | rkey          |
 * | 1 | persistent 62 | address 61–32 | rkey        |
 * </pre>
 *
 * <p>Pinned memory is registered under the address {@code generation << 40 | page offset}: so a key
 * of an earlier region is out of bounds even if the hardware has reused its rkey. Memory that is
 * paged on demand, or persistent, has a separate address ({@link Alias}), in units of 128 KiB,
 * which no other region has had for a long time.
 */
final class VerbsRegion implements MemoryRegion {
  static final int GENERATIONS = 1 << 19;
  private static final long BY_ADDRESS = 1L << 63;
  private static final long PERSISTENT = 1L << 62;
  private static final long ADDRESS_MASK = (1L << 30) - 1;
  private static final int OFFSET_BITS = 40;
  private static final long PAGE_MASK = 4095;

  private final VerbsDevice owner;
  private final MemorySegment memory;
  private final boolean remote;
  private final IbvMr mr;
  final int lkey;

  /** The address of its first byte in requests, here and at a peer. */
  final long iova;

  private final long size;

  private final long place;

  /** The second mapping; null for memory that is registered at its own address. */
  private final Alias alias;

  VerbsRegion(
      VerbsDevice owner, MemorySegment memory, boolean remote, IbvMr mr, long place, Alias alias) {
    this.owner = owner;
    this.memory = memory;
    this.remote = remote;
    this.mr = mr;
    this.lkey = mr.getLkey();
    this.place = place;
    this.alias = alias;
    this.iova = iova(place);
    this.size = memory.byteSize();
    assert (int) place == 0 && (alias == null || iova == alias.address())
        : "place " + Long.toHexString(place) + " for address " + Long.toHexString(iova);
  }

  /** Deregisters it. */
  void end() throws IOException {
    mr.deregMr().execute();
    if (alias != null) {
      alias.close();
    }
  }

  /** The key of a pinned region without its rkey. */
  static long place(int generation, long address) {
    assert generation > 0 && generation < GENERATIONS : generation;
    return (long) generation << 44 | (address & PAGE_MASK) << 32;
  }

  /** The key, without its rkey, of a region that is named by its address. */
  static long place(boolean persistent, long address) {
    assert address > 0 && address >>> 47 == 0 && (address & (1L << Alias.UNIT_BITS) - 1) == 0
        : Long.toHexString(address);
    return BY_ADDRESS | (persistent ? PERSISTENT : 0) | address >>> Alias.UNIT_BITS << 32;
  }

  /** The address of the first byte in requests. */
  static long iova(long remoteKey) {
    return remoteKey < 0
        ? (remoteKey >>> 32 & ADDRESS_MASK) << Alias.UNIT_BITS
        : remoteKey >>> 44 << OFFSET_BITS | remoteKey >>> 32 & PAGE_MASK;
  }

  /** Returns the type of a FLUSH of the region: all kinds that it permits. */
  static int flushType(long remoteKey) {
    return remoteKey < 0 && (remoteKey & PERSISTENT) != 0
        ? Offered.FLUSH_GLOBAL | Offered.FLUSH_PERSISTENT
        : Offered.FLUSH_GLOBAL;
  }

  /** Checks a region and a range that a caller passed. */
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

  /** The address of a peer's range in requests; negative when the range is impossible. */
  static long remoteAddress(long remoteKey, long offset, int length) {
    if (remoteKey == 0 || offset < 0 || offset > (1L << OFFSET_BITS) - PAGE_MASK - length) {
      return -1;
    }
    return iova(remoteKey) + offset;
  }

  @Override
  public MemorySegment memory() {
    return memory;
  }

  @Override
  public long remoteKey() {
    return remote ? place | mr.getRkey() & 0xffff_ffffL : 0;
  }
}
