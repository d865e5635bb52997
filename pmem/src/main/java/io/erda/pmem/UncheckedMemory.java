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
 * <p>The price is that nothing is checked: an address of memory that was released, or of another
 * owner, ends the process or damages it. Whoever uses it checks bounds and life itself, and says
 * where: memory that it mapped or allocated itself and still holds, with offsets that are constants
 * or were compared with the length before.
 */
public final class UncheckedMemory {
  /**
   * All of it; the offset of a byte is its address. It is a {@code static final} field because only
   * then the compiler folds it.
   */
  @SuppressWarnings("restricted")
  public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  /** Masks addresses of user space: what is masked with it needs no check for bounds. */
  public static final long ADDRESS = (1L << 48) - 1;

  private UncheckedMemory() {}
}
