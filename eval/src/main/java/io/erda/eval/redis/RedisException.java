package io.erda.eval.redis;

/** Redis is not there, or did not answer as expected. The message is one line. */
public final class RedisException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public RedisException(String message) {
    super(message);
  }

  public RedisException(String message, Throwable cause) {
    super(message, cause);
  }
}
