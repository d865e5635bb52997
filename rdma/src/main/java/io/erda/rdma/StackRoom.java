package io.erda.rdma;

/**
 * Makes sure that a thread's stack has room for steps that must not end in the middle. The JDK's
 * channels, selectors and TLS engines hold locks of {@code java.util.concurrent} meanwhile: when
 * the stack overflows in there, a lock may stay with the thread, and whoever closes the channel
 * later waits for ever. So code requires the room before such steps, and then the error comes while
 * nothing is held.
 */
public final class StackRoom {
  /** Room for a step in the JDK's channels and selectors. */
  public static final int OF_CHANNEL = 192;

  /** Room for a step in the JDK's TLS, whose handshake checks certificates. */
  public static final int OF_TLS = 384;

  /** Room to close a client with all that it holds, whose steps require room themselves. */
  public static final int OF_CLOSE = 448;

  private StackRoom() {}

  /**
   * Requires room for so many calls of this method. A call takes 16 bytes of the stack when it is
   * compiled well, 100 when it is interpreted, and one or two nanoseconds.
   *
   * @return {@code calls}
   * @throws StackOverflowError when there is no such room
   */
  public static int require(int calls) {
    return calls == 0 ? 0 : 1 + require(calls - 1);
  }
}
