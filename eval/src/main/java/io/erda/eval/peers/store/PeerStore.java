package io.erda.eval.peers.store;

import java.nio.ByteBuffer;

/**
 * The interface of a store, designed for one thread that copies values by key as fast as possible.
 * The caller writes into buffers that the adapter owns, in the memory that suits the store best, so
 * that no adapter needs a conversion that its users would not. One thread.
 */
public interface PeerStore extends AutoCloseable {
  int KEY_BYTES = 16;

  /** The most puts under way at once, or in one batch, if the store supports that. */
  int PIPELINE_DEPTH = 32;

  /** The durability of a store that is lost with its process. */
  String NO_DURABILITY = "nothing";

  /** The buffer for the key of the next operation, from 0 on; of native byte order. */
  ByteBuffer key();

  /** The buffer for the value of the next put. */
  ByteBuffer value();

  /** The buffer with the value of the last get. */
  ByteBuffer got();

  /** Stores the value. In a pipelined store it may be under way when this returns. */
  void put();

  /**
   * Copies the value of the key.
   *
   * @return its length, -1 when there is none
   */
  int get();

  /** Waits for the puts that are under way. */
  default void awaitPuts() {}

  /** Waits until the store's own threads have done their work after puts. */
  default void settle() {}

  /** Returns in words the failures that a put that has returned survives. */
  String durability();

  /**
   * Another adapter of the same open store, for the thread that calls this: several threads may
   * have one each, and use them at once. It is closed before this one.
   *
   * @throws UnsupportedOperationException when the adapter supports one thread only
   */
  default PeerStore another() {
    throw new UnsupportedOperationException(getClass().getName() + " is for one thread");
  }

  @Override
  void close();
}
