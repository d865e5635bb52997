package io.erda.simulation;

import io.erda.rdma.Access;
import io.erda.rdma.Device;
import io.erda.rdma.Opcode;
import java.util.HashMap;
import java.util.Map;

/** The remote keys that were given out, and the registered region of each key. */
final class RemoteKeys {
  /**
   * Makes keys different from offsets and indexes, so that an offset or index that is used as a key
   * is refused.
   */
  private static final long STRIDE = 0x9E3779B97F4A7C15L;

  private final Map<Long, SimulatedRegion> regions = new HashMap<>();
  private long given;

  long next() {
    given++;
    return given * STRIDE;
  }

  void register(SimulatedRegion region) {
    SimulatedRegion before = regions.put(region.remoteKey(), region);
    assert before == null : "a key names two regions";
  }

  void deregister(SimulatedRegion region) {
    regions.remove(region.remoteKey(), region);
  }

  /**
   * Loses all keys, which are then given out again from the first one on. Returns whether there
   * were any.
   */
  boolean forget() {
    boolean any = given > 0;
    regions.clear();
    given = 0;
    return any;
  }

  /** The region of a key, or null. */
  SimulatedRegion find(long remoteKey) {
    return regions.get(remoteKey);
  }

  /** The region of a device that work reaches with its key; null when it is refused. */
  SimulatedRegion resolve(PostedWork work, Device owner) {
    SimulatedRegion region = regions.get(work.remoteKey);
    if (region == null
        || region.device != owner
        || !region.allows(needed(work.opcode), work.remoteOffset, work.length)) {
      return null;
    }
    return work.isAtomic() && region.phase(work.remoteOffset) != 0 ? null : region;
  }

  /** Returns the right that an operation needs; see {@link Opcode} for a new one. */
  private static int needed(int opcode) {
    return switch (opcode) {
      case Opcode.READ, Opcode.FLUSH -> Access.REMOTE_READ;
      case Opcode.COMPARE_AND_SWAP -> Access.REMOTE_ATOMIC;
      case Opcode.WRITE, Opcode.WRITE_IMM, Opcode.ATOMIC_WRITE -> Access.REMOTE_WRITE;
      default -> throw new IllegalArgumentException("an operation of opcode " + opcode);
    };
  }
}
