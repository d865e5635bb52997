package io.erda.rdma;

/**
 * Receives the peers that a device refuses by itself, before or after the device's {@link Listener}
 * returned them. Threads of the device call it. It must not block, and must not throw.
 */
@FunctionalInterface
public interface RefusalListener {
  /** Ignores all. */
  RefusalListener NONE = (peer, figure, why) -> {};

  /**
   * A peer's connection was ended.
   *
   * @param peer its address
   * @param figure the name of the figure of {@link Device#figures} that counts this refusal
   * @param why the reason in words for a user
   */
  void refused(String peer, String figure, String why);

  /**
   * No peer can connect, or peers can connect again.
   *
   * @param what the reason and the remedy, in words for a user
   */
  default void trouble(String what) {}
}
