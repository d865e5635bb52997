package io.erda.rdma;

import java.util.concurrent.atomic.AtomicInteger;

/** Threads that overflow their stacks within a call. */
public final class DeepStack {
  private static final long STACK_BYTES = 160 << 10;

  private final Runnable call;
  private final AtomicInteger calls = new AtomicInteger();

  private DeepStack(Runnable call) {
    this.call = call;
  }

  /**
   * Makes a call from each depth of a new thread, until the stack overflows, and ends the thread.
   *
   * @param round shifts the place of the overflow
   * @return how many calls were begun
   */
  public static int overflow(int round, Runnable call) throws InterruptedException {
    DeepStack deep = new DeepStack(call);
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                deep.shifted(round);
              } catch (StackOverflowError e) {
                // As wanted.
              }
            },
            "deep",
            STACK_BYTES);
    thread.start();
    thread.join();
    return deep.calls.get();
  }

  private void shifted(int frames) {
    if (frames > 0) {
      shifted(frames - 1);
    } else {
      deeper();
    }
  }

  @SuppressWarnings("InfiniteRecursion")
  private void deeper() {
    calls.incrementAndGet();
    call.run();
    deeper();
  }
}
