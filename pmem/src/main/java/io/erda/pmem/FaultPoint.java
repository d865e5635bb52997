package io.erda.pmem;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Where a fault in mapped memory comes to light. A file that somebody shortened while it was mapped
 * raises SIGBUS at the next load or store behind its new end. The JVM passes over that instruction
 * (a load yields any bits) and throws an {@link InternalError} at a later point of its own choice,
 * in compiled code often many statements later, in somebody else's work.
 *
 * <p>So whoever touched memory that another process may have shortened calls {@link #surface()}
 * before what was loaded is used and before other work begins: the error is thrown there at the
 * latest. It costs about a nanosecond. The JVM's own CRC32C is no such place: it ends the process
 * where memory is missing, so the pages are touched first.
 *
 * <p>How: the JVM throws at safepoint polls, and the end of a turn of a loop that is not counted
 * has one, whichever compiler made the code.
 */
public final class FaultPoint {
  /** How the JVM's message begins, whichever compiler made the code that met the fault. */
  private static final String MESSAGE = "a fault occurred";

  private static final VarHandle YES;

  static {
    try {
      YES = MethodHandles.lookup().findVarHandle(FaultPoint.class, "yes", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Always true, which the compiler can't know. */
  @SuppressWarnings({"unused", "FieldMayBeFinal"})
  private boolean yes = true;

  /**
   * Whether an error says that a page of mapped memory was not there. The JDK throws errors of the
   * same class for what has nothing to do with memory, such as a system call of a selector that
   * failed; these are the program's, as any other error is.
   */
  public static boolean isFault(InternalError error) {
    return error.getCause() == null
        && error.getMessage() != null
        && error.getMessage().startsWith(MESSAGE);
  }

  /**
   * Returns when no load or store of this thread before has met a fault.
   *
   * @throws InternalError when one has
   */
  public void surface() {
    boolean again = false;
    do {
      again = !again & (boolean) YES.getOpaque(this);
    } while (again);
  }
}
