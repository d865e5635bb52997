package io.erda.client;

import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;

/**
 * Is called once for each operation of an {@link ErdaAsyncClient} when it has ended, from within
 * {@code doWork()}, {@code await()} or {@code close()}: never from within the call that submits,
 * nor in the middle of another operation's work. The operation's place in the pipeline is free when
 * the method has returned.
 *
 * <p>May submit; the outcome of such an operation is told in the next {@code doWork()} at the
 * earliest. May close the client: that takes effect when the call that called the handler ends.
 * Must not call {@code doWork()}, {@code await()} or {@code handOver()}: they throw. An operation
 * for which a method throws is not told again: the handler is called for all others that have
 * ended, then the call that called the handler throws the exception.
 */
public interface OperationHandler {
  /**
   * A get ended.
   *
   * @param memory holds the value until this method returns; belongs to the client: read only the
   *     named range
   * @param offset where the value begins
   * @param length of the value, bytes; -1: absent
   */
  void onGet(long token, MemorySegment memory, long offset, long length);

  /** A put is done and has the promise of the store. */
  void onPut(long token);

  /**
   * A delete is done.
   *
   * @param existed whether the key had a value before
   */
  void onDelete(long token, boolean existed);

  /**
   * A {@code putIfAbsent}, {@code compareAndSet} or {@code compareAndDelete} ended. Handlers of
   * conditional operations override it.
   *
   * @param done whether the condition held; then the change has the promise of the store
   */
  default void onConditional(long token, boolean done) {
    throw new UnsupportedOperationException("this handler takes no conditional operations");
  }

  /**
   * An iteration has come to its next key, or to its end. Only {@link ErdaAsyncClient#next} leads
   * to this call.
   *
   * @param key valid until this method returns, belongs to the client, only to be read; null at the
   *     end
   * @param value as the key
   */
  default void onEntry(long token, MemorySegment key, MemorySegment value) {}

  /** An operation failed. */
  void onError(long token, ErdaException error);
}
