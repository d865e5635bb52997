package io.erda.verbs.ffm;

import static io.erda.verbs.ffm.Foreign.BYTE;
import static io.erda.verbs.ffm.Foreign.INT;
import static io.erda.verbs.ffm.Foreign.LONG;
import static io.erda.verbs.ffm.Foreign.MEMORY;
import static io.erda.verbs.ffm.Foreign.function;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;

/**
 * Posts work for which {@code ibv_post_send} has no opcode, through the functions of a queue pair.
 * Prepared once; a post allocates nothing. One thread, and never between two halves of another
 * post.
 */
public final class PostExtended {
  private static final FunctionDescriptor START = FunctionDescriptor.ofVoid(LONG);
  private static final FunctionDescriptor COMPLETE = function(INT, LONG);
  private static final FunctionDescriptor FLUSH =
      FunctionDescriptor.ofVoid(LONG, INT, LONG, LONG, BYTE, BYTE);
  private static final FunctionDescriptor ATOMIC_WRITE =
      FunctionDescriptor.ofVoid(LONG, INT, LONG, LONG);

  /** A FLUSH names a range, and not a whole region ({@code enum ibv_selectivity_level}). */
  private static final byte RANGE = 0;

  private final long qp;
  private final MemorySegment word = Arena.ofAuto().allocate(LONG);
  private final MethodHandle start;
  private final MethodHandle complete;
  private final MethodHandle flush;
  private final MethodHandle atomicWrite;

  /**
   * Finds the functions.
   *
   * @param qp the address of an {@code ibv_qp_ex} that was made with these abilities
   * @throws IOException when they are not at the known places
   */
  PostExtended(long qp, Offered offered) throws IOException {
    this.qp = qp;
    start = find(Structs.QpEx.WR_START, START);
    complete = find(Structs.QpEx.WR_COMPLETE, COMPLETE);
    flush = offered.flushes() ? find(Structs.QpEx.WR_FLUSH, FLUSH) : null;
    atomicWrite = offered.writesWords() ? find(Structs.QpEx.WR_ATOMIC_WRITE, ATOMIC_WRITE) : null;
  }

  private MethodHandle find(int offset, FunctionDescriptor descriptor) throws IOException {
    long pointer = MEMORY.get(LONG, qp + offset);
    Foreign.requireLayout("ibv_qp_ex", Foreign.isPointer(pointer));
    return Foreign.behind(pointer, descriptor);
  }

  /**
   * Posts a FLUSH of a range of the peer's memory.
   *
   * @param flags {@code IBV_SEND_…}
   * @param type the types {@link Offered#FLUSH_GLOBAL} and {@link Offered#FLUSH_PERSISTENT}, or-ed
   */
  public void flush(long wrId, int flags, int rkey, long address, int length, int type)
      throws IOException {
    int errno;
    try {
      begin(wrId, flags);
      flush.invokeExact(qp, rkey, address, (long) length, (byte) type, RANGE);
      errno = (int) complete.invokeExact(qp);
    } catch (Throwable e) {
      throw Foreign.unexpected(e);
    }
    check("ibv_wr_flush", errno);
  }

  /** Posts an ATOMIC_WRITE of one word of the peer's memory. */
  public void atomicWrite(long wrId, int flags, int rkey, long address, long value)
      throws IOException {
    word.set(LONG, 0, value);
    int errno;
    try {
      begin(wrId, flags);
      atomicWrite.invokeExact(qp, rkey, address, word.address());
      errno = (int) complete.invokeExact(qp);
    } catch (Throwable e) {
      throw Foreign.unexpected(e);
    } finally {
      Reference.reachabilityFence(this);
    }
    check("ibv_wr_atomic_write", errno);
  }

  private void begin(long wrId, int flags) throws Throwable {
    start.invokeExact(qp);
    MEMORY.set(LONG, qp + Structs.QpEx.WR_ID, wrId);
    MEMORY.set(INT, qp + Structs.QpEx.WR_FLAGS, flags);
  }

  private static void check(String call, int errno) throws IOException {
    if (errno != 0) {
      throw Foreign.failed(call, Math.abs(errno));
    }
  }
}
