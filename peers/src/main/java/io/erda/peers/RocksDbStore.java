package io.erda.peers;

import io.erda.eval.peers.store.PeerPlace;
import io.erda.pmem.AvailableMemory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.CompressionType;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * RocksDB with its log, which is never synced. It compresses nothing, has Bloom filters, and a
 * cache for all blocks up to a gigabyte, or an eighth of the memory that its process can have.
 */
public final class RocksDbStore extends DirectBufferStore {
  private static final long CACHE_BYTES_MAX = 1L << 30;

  /** More of its memory leaves a process that may have little too little for the rest. */
  private static final int CACHE_SHARE = 8;

  private static final long SETTLE_NS_MAX = TimeUnit.SECONDS.toNanos(10);
  private static final int BLOOM_BITS = 10;

  static {
    RocksDB.loadLibrary();
  }

  private final Options options = new Options();
  private final WriteOptions writing = new WriteOptions().setSync(false);
  private final ReadOptions reading = new ReadOptions();
  private final LRUCache cache;
  private final BloomFilter bloom = new BloomFilter(BLOOM_BITS);
  private final WriteBatch batch = new WriteBatch();
  private final boolean inBatches;
  private final RocksDB database;

  public RocksDbStore(PeerPlace place) throws RocksDBException {
    super(place.valueBytes());
    this.inBatches = place.pipelined();
    long bytes = place.objects() * (place.valueBytes() + KEY_BYTES);
    this.cache =
        new LRUCache(
            Math.min(
                Math.min(CACHE_BYTES_MAX, AvailableMemory.bytes() / CACHE_SHARE),
                2 * bytes + (8 << 20)));
    options
        .setCreateIfMissing(true)
        .setCompressionType(CompressionType.NO_COMPRESSION)
        .setTableFormatConfig(
            new BlockBasedTableConfig().setBlockCache(cache).setFilterPolicy(bloom));
    this.database = RocksDB.open(options, place.location());
  }

  @Override
  public void put() {
    try {
      if (inBatches) {
        batch.put(key.clear(), value.clear());
        if (batch.count() == PIPELINE_DEPTH) {
          awaitPuts();
        }
      } else {
        database.put(writing, key.clear(), value.clear());
      }
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  @Override
  public void awaitPuts() {
    if (!inBatches || batch.count() == 0) {
      return;
    }
    try {
      database.write(writing, batch);
      batch.clear();
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  @Override
  public int get() {
    try {
      return database.get(reading, key.clear(), got.clear());
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  /** Flushing and compaction go on in its own threads, on cores that are the next one's by then. */
  @Override
  public void settle() {
    long endNs = System.nanoTime() + SETTLE_NS_MAX;
    while (isBusy() && System.nanoTime() < endNs) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
    }
  }

  private boolean isBusy() {
    try {
      return database.getLongProperty("rocksdb.num-running-compactions") > 0
          || database.getLongProperty("rocksdb.num-running-flushes") > 0
          || database.getLongProperty("rocksdb.compaction-pending") > 0;
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  private static IllegalStateException failed(RocksDBException e) {
    return new IllegalStateException("RocksDB: " + e.getMessage(), e);
  }

  @Override
  public String durability() {
    return "kill of the process";
  }

  @Override
  public void close() {
    awaitPuts();
    database.close();
    batch.close();
    reading.close();
    writing.close();
    options.close();
    bloom.close();
    cache.close();
  }
}
