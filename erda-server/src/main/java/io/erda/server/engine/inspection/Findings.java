package io.erda.server.engine.inspection;

/** Is told what is wrong with a store. */
public interface Findings {
  /**
   * Damage was found.
   *
   * @param key that is concerned, or null when it is unknown
   */
  void found(byte[] key, String what);

  /** Something was found that may be damage, or may be a trace of a killed server. */
  default void doubtful(byte[] key, String what) {}
}
