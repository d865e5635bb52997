package io.erda.client;

import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;

/**
 * Hears once how each operation of an {@link ErdaAsyncClient} ended, from within {@code doWork()},
 * {@code await()} or {@code close()}: never from within the call that submits, nor in the middle of
 * another operation's work. The place of an operation in the pipeline is free when the method has
 * returned.
 *
 * <p>May submit; of what that submits the handler hears at the earliest in the next {@code
 * doWork()}. May close the client, which then takes effect when the call that called the handler
 * ends. Must not call {@code doWork()}, {@code await()} or {@code handOver()}: they throw. What a
 * method throws counts as having heard: everything else that has ended is told all the same, then
 * the call that called the handler throws it.
 */
public interface OperationHandler {
  /**
   * A get ended.
   *
   * @param memory holds the value until this method returns; the client's own, read only what is
   *     named
   * @param offset where the value begins
   * @param length of the value, bytes; -1: absent
   */
  void onGet(long token, MemorySegment memory, long offset, long length);

  /** A put is done, with the promise of the store. */
  void onPut(long token);

  /**
   * A delete is done.
   *
   * @param existed whether the key had a value before
   */
  void onDelete(long token, boolean existed);

  /**
   * A {@code putIfAbsent}, {@code compareAndSet} or {@code compareAndDelete} ended. A handler of
   * operations of these kinds overrides it.
   *
   * @param done whether the condition held, and so it is done with the promise of the store
   */
  default void onConditional(long token, boolean done) {
    throw new UnsupportedOperationException("this handler takes no conditional operations");
  }

  /**
   * An iteration has come to its next key, or to its end. Nothing but {@link ErdaAsyncClient#next}
   * leads to this.
   *
   * @param key until this method returns, the client's own, to be read only; null at the end
   * @param value the same
   */
  default void onEntry(long token, MemorySegment key, MemorySegment value) {}

  /** An operation failed. */
  void onError(long token, ErdaException error);
}
