package io.erda.pmem;

import java.lang.foreign.MemorySegment;

/**
 * All memory of the process as one segment, for loads and stores by absolute address where the
 * checks of an ordinary segment cost more than the access.
 *
 * <p>A segment that is a constant costs the access alone: the JIT compiler knows its bounds and
 * that it is alive for ever. One in a field or a variable costs some ten instructions (2 ns) of
 * checks each time, and a get loads some forty words.
 *
 * <p>The price is that nothing is checked: an access to memory that was released, or that has
 * another owner, ends the process or damages it. So code that uses this class checks bounds and
 * lifetime itself, and has a comment that says where. It accesses only memory that it mapped or
 * allocated itself and still holds, at offsets that are constants or were compared with the length
 * before.
 */
public final class UncheckedMemory {
  /**
   * All memory; the offset of a byte is its address. This is a {@code static final} field because
   * the compiler treats only such a field as a constant.
   */
  @SuppressWarnings("restricted")
  public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  /**
   * A mask for addresses of user space: an address that was masked with it needs no check of its
   * bounds.
   */
  public static final long ADDRESS = (1L << 48) - 1;

  private UncheckedMemory() {}
}
