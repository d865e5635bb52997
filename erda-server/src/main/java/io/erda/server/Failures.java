package io.erda.server;

import io.erda.pmem.FileErrors;
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

    /** Returns the message alone: the line for the user, without the name of this class. */
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
   * Loads what it takes to tell an error: a thread may end because no class can be loaded any more.
   */
  Failures() {
    if (FileErrors.explain(new ThreadEndedException("", new NoClassDefFoundError())) != null) {
      throw new IllegalStateException("the error of a thread is none of files");
    }
  }

  /** Says that the calling thread ends for an error. */
  void ended(Throwable error) {
    ended(Thread.currentThread().getName(), error);
  }

  /** Says that a thread ends for an error. */
  void ended(String thread, Throwable error) {
    Runnable told;
    Throwable line;
    try {
      line = new ThreadEndedException(thread, error);
    } catch (LinkageError | OutOfMemoryError e) {
      // That the server ends is worth more than how it is said.
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

  /** The error that ended the first thread that failed; null while none has. */
  synchronized Throwable first() {
    return first;
  }
}
