package io.erda.rdma;

/**
 * Is told of peers that a device refuses by itself, before or after its {@link Listener} saw them.
 * Threads of the device call it: it must not wait for anything, and throws nothing.
 */
@FunctionalInterface
public interface RefusalListener {
  /** Ignores all. */
  RefusalListener NONE = (peer, figure, why) -> {};

  /**
   * A peer's connection was ended.
   *
   * @param peer its address
   * @param figure the name of the figure that counts it, of {@link Device#figures}
   * @param why in words for people
   */
  void refused(String peer, String figure, String why);

  /**
   * Peers can't connect for some reason, or can again.
   *
   * @param what the reason and the remedy, in words for people
   */
  default void trouble(String what) {}
}
