package io.erda.eval.peers.store;

import java.nio.ByteBuffer;

/**
 * A store in the form in which it is quickest for one thread that has a key and wants a copy of its
 * value. The caller writes into buffers that the adapter owns, in whatever memory the store likes
 * best, so no adapter pays for a conversion that its users would not need. One thread.
 */
public interface PeerStore extends AutoCloseable {
  int KEY_BYTES = 16;

  /** How many puts are under way at once, or in one batch, where the store has such a thing. */
  int PIPELINE_DEPTH = 32;

  /** The durability of a store that is gone with its process. */
  String NO_DURABILITY = "nothing";

  /** Where the key of the next operation is written, from 0 on; of native byte order. */
  ByteBuffer key();

  /** Where the value of the next put is written. */
  ByteBuffer value();

  /** Where the last get has copied its value. */
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

  /** Waits until the store has done what it does in threads of its own after puts. */
  default void settle() {}

  /** What a put that has returned survives, in words. */
  String durability();

  @Override
  void close();
}
