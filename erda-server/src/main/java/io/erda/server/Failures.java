package io.erda.server;

import io.erda.protocol.JvmErrors;

/**
 * Where the threads beside the server's say that they ended for an error. The first such error ends
 * the server: without that thread it would answer nobody, or only some. Any thread may call.
 */
final class Failures {
  /** An error that ended a thread. Its message is the line for the user. */
  static final class ThreadEndedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private ThreadEndedException(String thread, Throwable error) {
      super("the thread " + thread + " ended: " + JvmErrors.tell(error), error);
    }

    /** Whoever prints it prints the line for the user. */
    @Override
    @SuppressWarnings("OverrideThrowableToString")
    public String toString() {
      return getMessage();
    }
  }

  // Guarded by this.

  private Throwable first;
  private Runnable listener;

  /** Says that the calling thread ends for an error. */
  void ended(Throwable error) {
    ended(Thread.currentThread().getName(), error);
  }

  /** Says that a thread ends for an error. */
  void ended(String thread, Throwable error) {
    Runnable told;
    synchronized (this) {
      if (first != null) {
        return;
      }
      first = new ThreadEndedException(thread, error);
      told = listener;
    }
    if (told != null) {
      told.run();
    }
  }

  /** Sets who is told of the first error, at once where there was one. */
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

  /** What ended the first thread that failed; null while none has. */
  synchronized Throwable first() {
    return first;
  }
}
