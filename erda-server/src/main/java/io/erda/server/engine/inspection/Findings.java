package io.erda.server.engine.inspection;

/** Receives the damage and the doubts that an inspection finds. */
public interface Findings {
  /**
   * Damage was found.
   *
   * @param key the key that is concerned, or null when it is unknown
   */
  void found(byte[] key, String what);

  /** An observation was made that may be damage, or a trace of a killed server. */
  default void doubtful(byte[] key, String what) {}
}
