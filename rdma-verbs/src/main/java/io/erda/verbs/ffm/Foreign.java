package io.erda.verbs.ffm;

import io.erda.pmem.libc.Errno;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * Calls functions of a library. Pointers are {@code long}s, so that a call allocates nothing.
 *
 * <p>{@link #errnoOf} gives {@code errno} after the last call of this thread that was made with
 * {@link #state}.
 */
final class Foreign {
  static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
  static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;

  /** Debian's packages with all libraries that are loaded here. */
  private static final String PACKAGES =
      "librdmacm1t64 libibverbs1 ibverbs-providers; librdmacm1 before Debian 13";

  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO_FIELD =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
  private static final ThreadLocal<MemorySegment> STATES =
      ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(STATE));

  /** All of memory, for loads by a library's pointers. Use constants of a struct as offsets. */
  static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private final String name;
  private final SymbolLookup library;

  private Foreign(String name, SymbolLookup library) {
    this.name = name;
    this.library = library;
  }

  /**
   * Loads a library for the life of the JVM.
   *
   * @throws IOException when it is missing; the message names the packages that have it
   */
  static Foreign load(String name) throws IOException {
    if (ValueLayout.ADDRESS.byteSize() != 8) {
      throw new IOException(name + ": only machines with 64-bit addresses");
    }
    try {
      return new Foreign(name, SymbolLookup.libraryLookup(name, Arena.global()));
    } catch (IllegalArgumentException e) {
      throw new IOException(
          name + " is not installed (Debian: apt-get install " + PACKAGES + ")", e);
    }
  }

  private MemorySegment find(String symbol) throws IOException {
    return library
        .find(symbol)
        .orElseThrow(() ->
            new IOException(
                name
                    + " has no "
                    + symbol
                    + ": this rdma-core is not one that is known here, which are 44 and"
                    + " later: install one of these, or take TCP (--listen, erda://HOST:PORT)"));
  }

  /**
   * Returns a function that reports a failure by {@code errno}; its first argument is {@link
   * #state}.
   */
  MethodHandle withErrno(String symbol, FunctionDescriptor descriptor) throws IOException {
    return LINKER.downcallHandle(find(symbol), descriptor, ERRNO);
  }

  /** A function that returns its error number, or nothing. */
  MethodHandle plain(String symbol, FunctionDescriptor descriptor) throws IOException {
    return LINKER.downcallHandle(find(symbol), descriptor);
  }

  /** Returns the function at an address, without {@code errno}. */
  static MethodHandle behind(long pointer, FunctionDescriptor descriptor) {
    return LINKER.downcallHandle(MemorySegment.ofAddress(pointer), descriptor);
  }

  /**
   * Returns the function at an address, which reports a failure by {@code errno}; its first
   * argument is {@link #state}.
   */
  static MethodHandle behindWithErrno(long pointer, FunctionDescriptor descriptor) {
    return LINKER.downcallHandle(MemorySegment.ofAddress(pointer), descriptor, ERRNO);
  }

  /** Whether a number could be the address of a function. */
  static boolean isPointer(long pointer) {
    return pointer > 0xffff && pointer >>> 47 == 0;
  }

  /** Where this thread's {@code errno} is kept. */
  static MemorySegment state() {
    return STATES.get();
  }

  static int errnoOf(MemorySegment state) {
    return (int) ERRNO_FIELD.get(state, 0L);
  }

  /** The exception for a failed call of this thread, by the {@code errno} that it left. */
  static VerbsException failed(String call) {
    return failed(call, errnoOf(state()));
  }

  /** Returns the exception for a failed call that returned the number. */
  static VerbsException failed(String call, int errno) {
    return new VerbsException(Errno.inWords(call, errno) + hint(call, errno), errno);
  }

  private static String hint(String call, int number) {
    Errno errno = Errno.of(number);
    if (errno == Errno.ENOMEM && !call.startsWith("rdma_get")) {
      return "; the limit of locked memory may be too low (ulimit -l unlimited, or LimitMEMLOCK of"
          + " a service)";
    }
    if (call.equals("rdma_create_event_channel") || call.equals("rdma_get_devices")) {
      return "; is there an RDMA device (rdma link), and the kernel's module rdma_ucm (modprobe"
          + " rdma_ucm)?";
    }
    if (call.equals("rdma_bind_addr") && (errno == Errno.EADDRNOTAVAIL || errno == Errno.ENODEV)) {
      return "; the address has to be one of a network device that an RDMA device stands on (ip"
          + " address; rdma link)";
    }
    if (call.equals("rdma_resolve_addr")) {
      return "; is there a way through an RDMA device (ip route; rdma link)?";
    }
    return "";
  }

  /** Throws when a struct of the library does not have its fields at the known places. */
  static void requireLayout(String struct, boolean asExpected) throws IOException {
    if (!asExpected) {
      throw new IOException(
          "this rdma-core lays out struct "
              + struct
              + " in a way that is not known here (known are 44 to 60 on 64-bit machines): install"
              + " one of these, or take TCP (--listen, erda://HOST:PORT)");
    }
  }

  /** Makes an exception from the declared exception of a call that never throws it. */
  static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return new IllegalStateException(e);
  }

  static FunctionDescriptor function(MemoryLayout result, MemoryLayout... arguments) {
    return FunctionDescriptor.of(result, arguments);
  }
}
