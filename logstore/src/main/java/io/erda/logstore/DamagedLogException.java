package io.erda.logstore;

/** The region table or a region header has values that this version never writes for this store. */
public final class DamagedLogException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public DamagedLogException(String message) {
    super(message);
  }
}
