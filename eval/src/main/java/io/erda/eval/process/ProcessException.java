package io.erda.eval.process;

/** A child process failed. The message is one line. */
public final class ProcessException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ProcessException(String message) {
    super(message);
  }

  public ProcessException(String message, Throwable cause) {
    super(message, cause);
  }
}
