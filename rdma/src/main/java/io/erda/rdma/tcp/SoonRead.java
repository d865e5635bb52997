package io.erda.rdma.tcp;

import io.erda.rdma.QueuePair;

/**
 * Looks ahead at the READs that have arrived together, and has the places loaded that they name: a
 * place is a cache miss or several, and those of different READs pass together where each of them
 * would otherwise wait for the one before. Nothing depends on it, and nothing that it looks at is
 * trusted. One thread; preallocated.
 */
final class SoonRead {
  private static final int READS_MAX = 32;

  /** Shorter ones are of the root, which everybody READs. */
  private static final int BYTES_MIN = 64;

  private final long[] keys = new long[READS_MAX];
  private final long[] offsets = new long[READS_MAX];

  /** Announces READs of the length of the first one that is long enough. */
  void announce(InBuffer in, QueuePair executor) {
    int count = 0;
    long length = 0;
    int at = in.at();
    int bytes = in.frame(at, Frame.BYTES_MAX);
    while (bytes > 0 && count < READS_MAX) {
      if (Frame.type(in.memory(), at) == Frame.READ
          && bytes == Frame.HEADER_BYTES + Frame.READ_BYTES) {
        long wanted = Frame.getLong(in.memory(), at + Frame.LENGTH_OF);
        if (count == 0 && wanted >= BYTES_MIN && wanted <= Frame.DATA_BYTES_MAX) {
          length = wanted;
        }
        if (wanted == length) {
          keys[count] = Frame.getLong(in.memory(), at + Frame.KEY);
          offsets[count++] = Frame.getLong(in.memory(), at + Frame.OFFSET);
        }
      }
      at += bytes;
      bytes = in.frame(at, Frame.BYTES_MAX);
    }
    if (count > 1) {
      executor.readSoon(keys, offsets, (int) length, count);
    }
  }
}
