package io.erda.protocol;

import java.util.NoSuchElementException;

/**
 * Explains errors of the JVM whose cause is the machine or the installation, although their message
 * does not say so. The explanation has the cause and the remedy in one line.
 */
public final class JvmErrors {
  private static final String DENIED = IllegalCallerException.class.getName();

  private JvmErrors() {}

  /** Returns one line for a user; null for any other error. */
  public static String explain(Throwable error) {
    for (Throwable each = error; each != null; each = each.getCause()) {
      if (each instanceof IllegalCallerException || says(each, DENIED)) {
        return "Erda calls the C library, and this JVM was told to deny that: start it with"
            + " --enable-native-access=ALL-UNNAMED, on the module path with"
            + " --enable-native-access=io.erda.pmem,io.erda.rdma,io.erda.server";
      }
      if (each instanceof OutOfMemoryError) {
        return outOfMemory(each);
      }
    }
    return switch (error) {
      case StackOverflowError e ->
          "the stack of a thread is full: its calls are nested too deep, or it needs a larger one;"
              + " -Xss gives threads more";
      case ExceptionInInitializerError e when e.getCause() != null ->
          "a part of the program can't be set up: " + whyNotSetUp(e.getCause());
      case NoClassDefFoundError e when says(e, "Could not initialize") ->
          "a part of the program could not be set up when it was first needed"
              + (e.getCause() == null ? "" : " (" + e.getCause().getMessage() + ")")
              + ", and can't be in this process any more: start it again";
      case InternalError e when says(e, "Error loading") ->
          "the JVM can't read a file of its own: "
              + e.getMessage()
              + "; a process without a free file descriptor can't (ulimit -n; a service:"
              + " LimitNOFILE=); start it again";
      case LinkageError e ->
          "a class can't be loaded ("
              + e
              + "): the program's files are not whole, or were replaced while it ran; start it"
              + " again";
      default -> null;
    };
  }

  private static String outOfMemory(Throwable error) {
    if (says(error, "native thread")) {
      return "no more threads can be made here: raise the limit of this user's processes (ulimit"
          + " -u; a service: LimitNPROC=, TasksMax=) or of the control group (pids.max)";
    }
    String more =
        says(error, "direct buffer")
            ? "-XX:MaxDirectMemorySize gives a JVM more, or -Xmx where that is not set"
            : "-Xmx gives a JVM more";
    return "out of memory: " + error.getMessage() + "; " + more;
  }

  /**
   * A library that can't be opened for lack of a file descriptor is told as a missing symbol. Other
   * causes say what the machine refuses, such as a system call that a sandbox forbids.
   */
  private static String whyNotSetUp(Throwable cause) {
    boolean library =
        cause instanceof NoSuchElementException
            || cause instanceof LinkageError
            || says(cause, "Too many open files");
    if (library || cause.getMessage() == null) {
      return cause
          + "; a process without a free file descriptor can't load the libraries that it needs"
          + " first (ulimit -n; a service: LimitNOFILE=); start it again";
    }
    return cause.getMessage()
        + "; this machine, or a sandbox around the process, does not allow it";
  }

  /**
   * Returns the explanation, or for other errors their own text; for an {@link ErdaException} this
   * is only its message.
   */
  public static String tell(Throwable error) {
    String explained = explain(error);
    if (explained != null) {
      return explained;
    }
    return error instanceof ErdaException ? error.getMessage() : error.toString();
  }

  private static boolean says(Throwable error, String what) {
    return error.getMessage() != null && error.getMessage().contains(what);
  }
}
