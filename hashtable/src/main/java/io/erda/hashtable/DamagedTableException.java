package io.erda.hashtable;

/** The header or the intent of a table has values that this version never writes. */
public final class DamagedTableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public DamagedTableException(String message) {
    super(message);
  }
}
