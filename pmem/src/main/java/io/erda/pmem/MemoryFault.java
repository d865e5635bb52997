package io.erda.pmem;

/**
 * A load or store met a page of mapped memory that is not there: its file was shortened, or the
 * file system is full or failed. {@link MemoryGuard} gives it. Which file it is, and what the
 * kernel's error is, the owner of the mapping finds out: {@link MappedFault}.
 *
 * <p>Thrown on where the memory is not the guard's owner's, it is met by the guard around.
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
