package io.erda.eval.baselines;

/**
 * The parameters of a store, which does not grow.
 *
 * @param buckets of the hash table, a power of two; it takes half as many keys
 * @param logBytes of the ring of the redo log, a multiple of 4096; the longest record is an eighth
 *     of it
 * @param slabBytes for objects at their destination
 * @param chunkBytes that the slab gives to a size class at a time, a power of two from 4096; the
 *     longest object with its header of 8 bytes
 */
public record BaselineGeometry(long buckets, int logBytes, long slabBytes, int chunkBytes) {
  private static final int PAGE_BYTES = 4096;
  private static final int CHUNK_BYTES = 1 << 16;
  private static final int LOG_BYTES = 1 << 26;

  public BaselineGeometry {
    if (Long.bitCount(buckets) != 1 || buckets < 2) {
      throw new IllegalArgumentException("buckets must be a power of two: " + buckets);
    }
    if (logBytes < PAGE_BYTES || logBytes % PAGE_BYTES != 0) {
      throw new IllegalArgumentException("the log must be a multiple of 4096: " + logBytes);
    }
    if (Integer.bitCount(chunkBytes) != 1 || chunkBytes < PAGE_BYTES) {
      throw new IllegalArgumentException("chunks must be a power of two: " + chunkBytes);
    }
    if (slabBytes < chunkBytes || slabBytes % chunkBytes != 0) {
      throw new IllegalArgumentException("the slab must be whole chunks: " + slabBytes);
    }
  }

  /**
   * A geometry with room for this many objects of at most this many bytes of key and value, and
   * some to spare.
   */
  public static BaselineGeometry forObjects(long objects, int objectBytes) {
    return forObjects(objects, objectBytes, LOG_BYTES);
  }

  /** As {@link #forObjects(long, int)}, with a redo log of this many bytes. */
  public static BaselineGeometry forObjects(long objects, int objectBytes, int logBytes) {
    long buckets = Long.highestOneBit(Math.max(objects, 8) * 2 - 1) << 1;
    long slot = Slab.slotBytes(Slab.classOf(objectBytes + Slab.HEADER_BYTES));
    long perChunk = Math.max(1, CHUNK_BYTES / slot);
    long chunks = objects / perChunk + 1 + (2L * logBytes / CHUNK_BYTES) + Slab.CLASSES;
    return new BaselineGeometry(buckets, logBytes, (chunks + 1) * CHUNK_BYTES, CHUNK_BYTES);
  }
}
