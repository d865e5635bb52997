package io.erda.server.engine.inspection;

/** Told what is wrong with a store. */
public interface Findings {
  /**
   * One finding.
   *
   * @param key that is concerned, or null where it can't be told
   */
  void found(byte[] key, String what);

  /** Something that may be damage, or may be what a server that was killed leaves. */
  default void doubtful(byte[] key, String what) {}
}
