package io.erda.client.shared;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A future that the thread of a {@link FutureDriver} completes. That thread must not wait for it,
 * or for what depends on it: it would wait for itself, without an end. Such a wait is refused.
 */
public final class DrivenFuture<T> extends CompletableFuture<T> {
  private final Thread driver;

  DrivenFuture(Thread driver) {
    this.driver = driver;
  }

  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    return new DrivenFuture<>(driver);
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException in the client's own thread, when this is not completed
   */
  @Override
  public T get() throws InterruptedException, ExecutionException {
    requireNoWait();
    return super.get();
  }

  /** As {@link #get()}. */
  @Override
  public T get(long timeout, TimeUnit unit)
      throws InterruptedException, ExecutionException, TimeoutException {
    requireNoWait();
    return super.get(timeout, unit);
  }

  /** As {@link #get()}. */
  @Override
  public T join() {
    requireNoWait();
    return super.join();
  }

  private void requireNoWait() {
    if (Thread.currentThread() == driver && !isDone()) {
      throw new IllegalStateException(
          "a dependent that runs in the client's thread waits for a future that this thread has"
              + " to complete; use thenCompose, or give the dependent an executor");
    }
  }
}
