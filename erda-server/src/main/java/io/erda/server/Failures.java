package io.erda.server;

import io.erda.pmem.FileErrors;
import io.erda.protocol.JvmErrors;

/**
 * Collects the errors that end threads other than the server's. The first error ends the server,
 * which would otherwise go on without that thread and no longer answer some or all clients. Any
 * thread may call any method.
 */
final class Failures {
  /** An error that ended a thread. Its message is the line for the user. */
  static final class ThreadEndedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private ThreadEndedException(String thread, Throwable error) {
      super("the thread " + thread + " ended: " + JvmErrors.tell(error), error);
    }

    /** Returns the message, which is the line for the user, without the class name. */
    @Override
    @SuppressWarnings("OverrideThrowableToString")
    public String toString() {
      return getMessage();
    }
  }

  // Guarded by this.

  private Throwable first;
  private Runnable listener;

  /**
   * Loads the classes that are needed to report an error, because a thread may end when no class
   * can be loaded any more.
   */
  Failures() {
    if (FileErrors.explain(new ThreadEndedException("", new NoClassDefFoundError())) != null) {
      throw new IllegalStateException("the error of a thread is none of files");
    }
  }

  /** Notes that an error ends the calling thread. */
  void ended(Throwable error) {
    ended(Thread.currentThread().getName(), error);
  }

  /** Notes that an error ends a thread. */
  void ended(String thread, Throwable error) {
    Runnable told;
    Throwable line;
    try {
      line = new ThreadEndedException(thread, error);
    } catch (LinkageError | OutOfMemoryError e) {
      // Ending the server matters more than the wording of its message.
      line = error;
    }
    synchronized (this) {
      if (first != null) {
        return;
      }
      first = line;
      told = listener;
    }
    if (told != null) {
      told.run();
    }
  }

  /** Sets the task to run at the first error; runs it at once if there was one. */
  void onFirst(Runnable toTell) {
    boolean failed;
    synchronized (this) {
      listener = toTell;
      failed = first != null;
    }
    if (failed) {
      toTell.run();
    }
  }

  /** Returns the error that ended the first thread that failed; null while no thread has failed. */
  synchronized Throwable first() {
    return first;
  }
}
