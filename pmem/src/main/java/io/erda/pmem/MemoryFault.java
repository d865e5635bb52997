package io.erda.pmem;

/**
 * A load or store met a page of mapped memory that is not there: its file was shortened, or the
 * file system is full or failed. {@link MemoryGuard} gives it. The owner of the mapping finds out
 * the file and the kernel's error: {@link MappedFault}.
 *
 * <p>An owner that catches a fault, and finds its own memory intact, throws the fault on to the
 * next guard outside its own.
 */
public final class MemoryFault extends InternalError {
  private static final long serialVersionUID = 1L;

  private MemoryFault(InternalError error) {
    super(error.getMessage(), error);
  }

  static MemoryFault of(InternalError error) {
    return error instanceof MemoryFault fault ? fault : new MemoryFault(error);
  }
}
