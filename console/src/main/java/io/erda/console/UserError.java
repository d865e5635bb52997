package io.erda.console;

/**
 * An error that the user can correct: only the message is printed, so it names the problem and, if
 * there is one, the solution. No stack trace is shown.
 */
public final class UserError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  /** Ends the command with exit code 1. */
  public UserError(String message) {
    this(message, 1);
  }

  /**
   * @param exitCode 2 when the command line itself is wrong, else 1
   */
  public UserError(String message, int exitCode) {
    this(message, exitCode, null);
  }

  /**
   * @param cause shown only by {@code -v}; may be null
   */
  public UserError(String message, int exitCode, Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  public int exitCode() {
    return exitCode;
  }
}
