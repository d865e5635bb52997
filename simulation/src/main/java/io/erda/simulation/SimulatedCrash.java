package io.erda.simulation;

/**
 * The end of the simulated process inside a call of one of its seams. An error, so that no handler
 * of exceptions in production code swallows it: the driver that steps the process catches it, and
 * drops everything that the process had.
 */
public final class SimulatedCrash extends Error {
  private static final long serialVersionUID = 1L;
  private static final String ERDA = "io.erda.";
  private static final String[] SEAMS = {"io.erda.simulation.", "io.erda.pmem.", "io.erda.rdma."};
  private static final StackWalker WALKER = StackWalker.getInstance();

  private final String place;

  SimulatedCrash(String message) {
    super(message, null, false, false);
    place = place();
  }

  /** The class and method of the production code that called the seam. */
  public String where() {
    return place;
  }

  /** Class and method of the innermost frame of Erda that is not a seam's. */
  static String place() {
    return WALKER.walk(frames ->
        frames
            .filter(frame -> isProduction(frame.getClassName()))
            .findFirst()
            .map(SimulatedCrash::name)
            .orElse("outside"));
  }

  private static boolean isProduction(String className) {
    if (!className.startsWith(ERDA)) {
      return false;
    }
    for (String seam : SEAMS) {
      if (className.startsWith(seam)) {
        return false;
      }
    }
    return true;
  }

  private static String name(StackWalker.StackFrame frame) {
    String name = frame.getClassName();
    return name.substring(name.lastIndexOf('.') + 1) + "." + frame.getMethodName();
  }
}
