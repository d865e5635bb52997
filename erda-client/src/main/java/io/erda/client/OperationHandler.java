package io.erda.client;

import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;

/**
 * Receives the outcomes of the operations of an {@link ErdaAsyncClient}. One method is called once
 * for each operation after it has ended, from within {@code doWork()}, {@code await()} or {@code
 * close()}; never from within the call that submits, and never in the middle of another operation's
 * work. When the method has returned, the operation's place in the pipeline is free.
 *
 * <p>A handler may submit operations; it receives their outcomes in the next {@code doWork()} at
 * the earliest. It may close the client, which takes effect when the call that called the handler
 * ends. It must not call {@code doWork()}, {@code await()} or {@code handOver()}, which throw in a
 * handler. When a method throws, it is not called again for the same operation: the handler is
 * called for all other operations that have ended, and then the call that called the handler throws
 * the exception.
 */
public interface OperationHandler {
  /**
   * A get ended.
   *
   * @param memory holds the value until this method returns. It belongs to the client; read only
   *     the range of the value
   * @param offset where the value begins
   * @param length the length of the value, bytes; −1: the key has no value
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
   * @param key the key, or null at the end of the iteration. The segment belongs to the client,
   *     must only be read, and is valid until this method returns
   * @param value the value of the key, under the same conditions
   */
  default void onEntry(long token, MemorySegment key, MemorySegment value) {}

  /** An operation failed. */
  void onError(long token, ErdaException error);
}
