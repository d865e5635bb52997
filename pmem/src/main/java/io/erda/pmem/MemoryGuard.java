package io.erda.pmem;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Guards loads from and stores to mapped memory that may go away, and is the one place that catches
 * the JVM's error. One thread; each owner has a guard of its own.
 *
 * <p><b>Why.</b> A file that somebody shortened while it was mapped raises SIGBUS at the next load
 * or store behind its new end, and so does a store that a full file system has no page for. The JVM
 * passes over that instruction (a load yields any bits) and throws an {@link InternalError} at a
 * later point of its own choice, in compiled code often many statements later, in unrelated work.
 *
 * <p><b>How.</b> The guard runs work on such memory, and afterwards lets the JVM throw a fault that
 * is pending. So when the guard returns, the work has met no fault, or its outcome is the {@link
 * MemoryFault}. Work that uses loaded bytes before it ends, or must stop at a fault, calls {@link
 * #surface} in between; unguarded work calls it at its end. The guard also receives a fault of
 * earlier, unguarded work. So an owner that receives a fault checks whether its memory is gone, and
 * throws the fault on if the memory is there. The JVM's own CRC32C, and the interpreter's
 * compare-and-swap, end the process where memory is missing; code that uses them first loads each
 * page and calls {@link #surface}.
 *
 * <p><b>Costs.</b> A guard takes about a nanosecond. It allocates nothing where the work is a
 * constant, such as {@code Session::poll}, that gets its object as an argument. The JVM throws a
 * pending fault at a safepoint poll, so {@link #surface} runs a loop that is not counted: every
 * compiler puts a safepoint poll at the end of each turn of such a loop.
 */
public final class MemoryGuard {
  /** The result of work that met a fault. No work returns it by itself. */
  public static final int FAULT = Integer.MIN_VALUE;

  /** How the JVM's message begins, whichever compiler made the code that met the fault. */
  private static final String MESSAGE = "a fault occurred";

  private static final VarHandle YES;

  static {
    try {
      YES = MethodHandles.lookup().findVarHandle(MemoryGuard.class, "yes", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Work that has no result. */
  @FunctionalInterface
  public interface Work<C, X extends Exception> {
    void run(C on) throws X;
  }

  /** Work that has a result, which may be null. */
  @FunctionalInterface
  public interface Finding<C, T, X extends Exception> {
    T find(C on) throws X;
  }

  /** Work whose result is a number. */
  @FunctionalInterface
  public interface Step<C> {
    int run(C on);
  }

  /**
   * Work with the arguments of an access to memory. Caller and work agree what each number is, such
   * as a place, a length or a value.
   */
  @FunctionalInterface
  public interface Access<C, A> {
    int run(C on, A memory, long first, long second, long third, long fourth);
  }

  /** Always true, but the compiler can't know that. */
  @SuppressWarnings({"unused", "FieldMayBeFinal"})
  private boolean yes = true;

  private MemoryFault fault;

  /** Does work. Returns false when the work met a fault. */
  public <C, X extends Exception> boolean attempt(C on, Work<? super C, X> work) throws X {
    try {
      work.run(on);
      surface();
      return true;
    } catch (InternalError e) {
      take(e);
      return false;
    }
  }

  /** Returns the result of work; null also when the work met a fault. */
  public <C, T, X extends Exception> T find(C on, Finding<? super C, T, X> work) throws X {
    try {
      T found = work.find(on);
      surface();
      fault = null;
      return found;
    } catch (InternalError e) {
      take(e);
      return null;
    }
  }

  /** Returns the result of work; {@link #FAULT} when the work met a fault. */
  public <C> int step(C on, Step<? super C> work) {
    try {
      int result = work.run(on);
      assert result != FAULT : "work without a fault returned FAULT";
      surface();
      return result;
    } catch (InternalError e) {
      return take(e);
    }
  }

  /** As {@link #step}, with the arguments of an access. */
  public <C, A> int access(
      Access<? super C, ? super A> work,
      C on,
      A memory,
      long first,
      long second,
      long third,
      long fourth) {
    try {
      int result = work.run(on, memory, first, second, third, fourth);
      assert result != FAULT : "work without a fault returned FAULT";
      surface();
      return result;
    } catch (InternalError e) {
      return take(e);
    }
  }

  /**
   * Returns the fault that work met last. A {@link #find} without a fault sets it to null; other
   * work without a fault leaves it.
   */
  public MemoryFault fault() {
    return fault;
  }

  /**
   * Notes the fault of an error that was caught around an access and its {@link #surface}. For a
   * caller whose access is so short that a call of {@link #access} would count.
   *
   * @return {@link #FAULT}
   * @throws InternalError when it is another error of the JDK, such as that of a selector's system
   *     call
   */
  public int take(InternalError e) {
    if (!isFault(e)) {
      throw e;
    }
    fault = MemoryFault.of(e);
    return FAULT;
  }

  /**
   * Whether an error reports that a page of mapped memory was missing; a guard may have caught it
   * or not.
   */
  public static boolean isFault(Throwable error) {
    return error instanceof MemoryFault
        || error instanceof InternalError
            && error.getCause() == null
            && error.getMessage() != null
            && error.getMessage().startsWith(MESSAGE);
  }

  /**
   * Makes the JVM throw a pending fault. When this returns, no earlier load or store of this thread
   * has met a fault.
   *
   * @throws InternalError when one has; the enclosing guard catches it
   */
  public void surface() {
    boolean again = false;
    do {
      again = !again & (boolean) YES.getOpaque(this);
    } while (again);
  }
}
