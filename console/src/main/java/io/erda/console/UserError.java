package io.erda.console;

/**
 * What the user can put right: the message is the whole of what is printed, so it names the thing
 * that is wrong and, where there is one, the way out. No stack trace is shown.
 */
public final class UserError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  /** Ends the command with exit code 1. */
  public UserError(String message) {
    this(message, 1);
  }

  /**
   * @param exitCode 2 where the command line itself is wrong, else 1
   */
  public UserError(String message, int exitCode) {
    this(message, exitCode, null);
  }

  /**
   * @param cause shown by {@code -v} only; may be null
   */
  public UserError(String message, int exitCode, Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  public int exitCode() {
    return exitCode;
  }
}
