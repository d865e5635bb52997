package io.erda.hashtable;

/** The table's header or intent is not what this version writes. */
public final class DamagedTableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public DamagedTableException(String message) {
    super(message);
  }
}
