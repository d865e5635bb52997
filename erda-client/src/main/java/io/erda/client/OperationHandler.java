package io.erda.client;

import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;

/**
 * Hears how the operations of an {@link ErdaAsyncClient} ended, from within {@code doWork()} or
 * {@code close()}, and from within the call that submits when the end is known at once. May submit;
 * must not call {@code doWork()} or {@code close()}. The place of an operation in the pipeline is
 * free when the method has returned.
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

  /** An operation failed. */
  void onError(long token, ErdaException error);
}
