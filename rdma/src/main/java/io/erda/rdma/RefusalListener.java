package io.erda.rdma;

/**
 * Is told of peers that a device refuses by itself: a listener never sees them, or has seen them
 * before. Threads of the device call it: it must not wait for anything, and throws nothing.
 */
@FunctionalInterface
public interface RefusalListener {
  /** Cares for nothing. */
  RefusalListener NONE = (peer, figure, why) -> {};

  /**
   * A peer's connection was ended.
   *
   * @param peer its address
   * @param figure that counts it, of {@link Device#figures}
   * @param why in words for people
   */
  void refused(String peer, String figure, String why);

  /**
   * Something keeps peers from connecting, or no longer does.
   *
   * @param what it is and what to do, in words for people
   */
  default void trouble(String what) {}
}
