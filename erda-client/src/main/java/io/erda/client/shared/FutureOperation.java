package io.erda.client.shared;

import io.erda.client.ErdaAsyncClient;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/** An operation of {@code ErdaFutures}, and its future. */
public abstract sealed class FutureOperation {
  final byte[] key;

  /** The key as a hash key, made by the submitting thread. */
  final Key hashKey;

  /** Whether the client's own thread submitted it. */
  boolean own;

  /** The time at which the client's thread took over the operation, by {@code Devices.CLOCK}. */
  long sinceNs;

  /** The operation behind this one in its {@link OperationQueue}; null when it is the last. */
  FutureOperation next;

  /** Whether it no longer counts as pending. */
  boolean left;

  // How it ended.
  private byte[] value;
  private boolean yes;
  private Throwable why;

  private FutureOperation(byte[] key) {
    this.key = key;
    this.hashKey = new Key(key);
  }

  /** The future that the submitting caller holds. */
  abstract CompletableFuture<?> future();

  /**
   * Submits it to the client.
   *
   * @return false when the pipeline is full
   */
  abstract boolean submit(ErdaAsyncClient client, long token);

  boolean isGet() {
    return false;
  }

  /** Notes that a get ended, and the value; null when the key has none. */
  final void got(byte[] found) {
    value = found;
  }

  /**
   * Notes that any other operation ended.
   *
   * @param said the answer: for a delete, whether the key had a value; for a conditional operation,
   *     whether the condition held
   */
  final void done(boolean said) {
    yes = said;
  }

  /** Notes that the operation failed. */
  final void failed(Throwable because) {
    why = because;
  }

  /**
   * Completes the future, unless it is completed. An exhausted heap may keep it from that; then it
   * can be called again.
   */
  final void complete() {
    if (why != null) {
      future().completeExceptionally(why);
    } else {
      complete(value, yes);
    }
  }

  abstract void complete(byte[] found, boolean said);

  /** A key as a hash key. */
  static final class Key {
    private final byte[] bytes;
    private final int hash;

    Key(byte[] bytes) {
      this.bytes = bytes;
      this.hash = Arrays.hashCode(bytes);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key key && Arrays.equals(bytes, key.bytes);
    }

    @Override
    public int hashCode() {
      return hash;
    }
  }

  public static final class Get extends FutureOperation {
    private final CompletableFuture<byte[]> future;

    public Get(byte[] key, CompletableFuture<byte[]> future) {
      super(key);
      this.future = future;
    }

    @Override
    CompletableFuture<?> future() {
      return future;
    }

    @Override
    boolean submit(ErdaAsyncClient client, long token) {
      return client.get(token, MemorySegment.ofArray(key));
    }

    @Override
    boolean isGet() {
      return true;
    }

    @Override
    void complete(byte[] found, boolean said) {
      future.complete(found);
    }
  }

  public static final class Put extends FutureOperation {
    private final byte[] value;
    private final CompletableFuture<Void> future;

    public Put(byte[] key, byte[] value, CompletableFuture<Void> future) {
      super(key);
      this.value = value;
      this.future = future;
    }

    @Override
    CompletableFuture<?> future() {
      return future;
    }

    @Override
    boolean submit(ErdaAsyncClient client, long token) {
      return client.put(token, MemorySegment.ofArray(key), MemorySegment.ofArray(value));
    }

    @Override
    void complete(byte[] found, boolean said) {
      future.complete(null);
    }
  }

  public static final class Delete extends FutureOperation {
    private final CompletableFuture<Boolean> future;

    public Delete(byte[] key, CompletableFuture<Boolean> future) {
      super(key);
      this.future = future;
    }

    @Override
    CompletableFuture<?> future() {
      return future;
    }

    @Override
    boolean submit(ErdaAsyncClient client, long token) {
      return client.delete(token, MemorySegment.ofArray(key));
    }

    @Override
    void complete(byte[] found, boolean existed) {
      future.complete(existed);
    }
  }

  public static final class Conditional extends FutureOperation {
    private final byte[] expected;
    private final byte[] value;
    private final CompletableFuture<Boolean> future;

    /**
     * A conditional put or delete.
     *
     * @param expected null when the key must have no value
     * @param value null to remove the key
     */
    public Conditional(
        byte[] key, byte[] expected, byte[] value, CompletableFuture<Boolean> future) {
      super(key);
      this.expected = expected;
      this.value = value;
      this.future = future;
    }

    @Override
    CompletableFuture<?> future() {
      return future;
    }

    @Override
    boolean submit(ErdaAsyncClient client, long token) {
      MemorySegment of = MemorySegment.ofArray(key);
      if (expected == null) {
        return client.putIfAbsent(token, of, MemorySegment.ofArray(value));
      }
      MemorySegment now = MemorySegment.ofArray(expected);
      return value == null
          ? client.compareAndDelete(token, of, now)
          : client.compareAndSet(token, of, now, MemorySegment.ofArray(value));
    }

    @Override
    void complete(byte[] found, boolean held) {
      future.complete(held);
    }
  }
}
