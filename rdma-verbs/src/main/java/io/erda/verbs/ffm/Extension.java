package io.erda.verbs.ffm;

import static io.erda.verbs.ffm.Foreign.INT;
import static io.erda.verbs.ffm.Foreign.LONG;
import static io.erda.verbs.ffm.Foreign.MEMORY;
import static io.erda.verbs.ffm.Foreign.function;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The later functions of libibverbs, which have no symbols: they are in a struct that ends with the
 * {@code ibv_context}. A provider may lack all or some of them.
 */
final class Extension {
  private static final int INIT_PD = 1;
  private static final int INIT_SEND_OPS = 1 << 6;
  private static final long EXTENDED = -1;
  private static final long ODP_SUPPORTED = 1;

  /** READ and WRITE, of {@code enum ibv_odp_transport_cap_bits}. */
  private static final int ODP_READ_WRITE = 1 << 2 | 1 << 3;

  private static final int STRUCT_BYTES_MAX = 4096;

  private final long context;
  private final MethodHandle queryDevice;
  private final MethodHandle createQp;

  /**
   * Finds the functions.
   *
   * @throws IOException when there is such a struct with an impossible size
   */
  Extension(long context) throws IOException {
    this.context = context;
    boolean extended = MEMORY.get(LONG, context + Structs.Context.ABI_COMPAT) == EXTENDED;
    Foreign.requireLayout(
        "verbs_context", !extended || isSize(MEMORY.get(LONG, context + Structs.Extended.SIZE)));
    queryDevice =
        extended
            ? find(Structs.Extended.QUERY_DEVICE_EX, function(INT, LONG, LONG, LONG, LONG))
            : null;
    createQp = extended ? withErrno(Structs.Extended.CREATE_QP_EX) : null;
  }

  private static boolean isSize(long bytes) {
    return bytes >= Structs.Context.BYTES && bytes <= STRUCT_BYTES_MAX && (bytes & 7) == 0;
  }

  private MethodHandle find(int offset, FunctionDescriptor descriptor) throws IOException {
    long pointer = pointer(offset);
    return pointer == 0 ? null : Foreign.behind(pointer, descriptor);
  }

  private MethodHandle withErrno(int offset) throws IOException {
    long pointer = pointer(offset);
    return pointer == 0 ? null : Foreign.behindWithErrno(pointer, function(LONG, LONG, LONG));
  }

  /** Returns the pointer at a negative offset; 0 when the struct is too small to have it. */
  private long pointer(int offset) throws IOException {
    long size = MEMORY.get(LONG, context + Structs.Extended.SIZE);
    if (size < Structs.Context.BYTES - offset) {
      return 0;
    }
    long pointer = MEMORY.get(LONG, context + offset);
    Foreign.requireLayout("verbs_context", pointer == 0 || Foreign.isPointer(pointer));
    return pointer;
  }

  /** The abilities that the device reports; none where it can't be asked. */
  Offered offered() throws IOException {
    if (createQp == null) {
      return Offered.NOTHING;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = attributes(arena);
      return attributes == null
          ? Offered.NOTHING
          : Offered.of(attributes.get(LONG, Structs.DeviceAttr.CAP_FLAGS_EX));
    }
  }

  /** Whether the device reports that READs and WRITEs of peers reach memory that is not pinned. */
  boolean pagesOnDemand() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = attributes(arena);
      return attributes != null
          && (attributes.get(LONG, Structs.DeviceAttr.ODP_GENERAL) & ODP_SUPPORTED) != 0
          && (attributes.get(INT, Structs.DeviceAttr.ODP_RC) & ODP_READ_WRITE) == ODP_READ_WRITE;
    }
  }

  /** The attributes that the device reports; null where it can't be asked. */
  private MemorySegment attributes(Arena arena) throws IOException {
    if (queryDevice == null) {
      return null;
    }
    MemorySegment attributes = arena.allocate(Structs.DeviceAttr.BYTES, 8);
    try {
      int errno =
          (int)
              queryDevice.invokeExact(
                  context, 0L, attributes.address(), (long) Structs.DeviceAttr.BYTES);
      long flags = attributes.get(LONG, Structs.DeviceAttr.CAP_FLAGS_EX);
      // The struct has the lower half twice, once at an offset that has never changed.
      boolean sane = (int) flags == attributes.get(INT, Structs.DeviceAttr.CAP_FLAGS);
      return errno == 0 && sane ? attributes : null;
    } catch (Throwable e) {
      throw Foreign.unexpected(e);
    }
  }

  /**
   * Makes a queue pair with more abilities than {@code ibv_create_qp} can give.
   *
   * @param init attributes, as for that; this thread's scratch memory
   */
  long createQp(long pd, long init, Offered with) throws IOException {
    MEMORY.set(INT, init + Structs.QpInitEx.COMP_MASK, INIT_PD | INIT_SEND_OPS);
    MEMORY.set(LONG, init + Structs.QpInitEx.PD, pd);
    MEMORY.set(LONG, init + Structs.QpInitEx.SEND_OPS, with.operations());
    long qp;
    try {
      qp = (long) createQp.invokeExact(Foreign.state(), context, init);
    } catch (Throwable e) {
      throw Foreign.unexpected(e);
    }
    if (qp == 0) {
      throw Foreign.failed("ibv_create_qp_ex");
    }
    return qp;
  }
}
