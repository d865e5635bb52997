package io.erda.peers;

import io.erda.eval.peers.store.PeerPlace;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.EnvFlags;
import org.lmdbjava.Txn;

/**
 * LMDB that writes into its map and leaves it to the kernel when that goes to the disk. A put is a
 * transaction; puts in batches share one. A get renews one transaction, to see what is new.
 */
public final class LmdbStore extends DirectBufferStore {
  /** A page that random inserts have half filled, a copy of it that is free, and room besides. */
  private static final int MAP_FACTOR = 6;

  private static final long MAP_BYTES_MIN = 256L << 20;

  private final Env<ByteBuffer> env;
  private final Dbi<ByteBuffer> database;
  private final Txn<ByteBuffer> reading;
  private final boolean inBatches;
  private Txn<ByteBuffer> writing;
  private int writes;

  public LmdbStore(PeerPlace place) {
    super(place.valueBytes());
    this.inBatches = place.pipelined();
    this.env =
        Env.create()
            .setMapSize(
                MAP_BYTES_MIN + place.objects() * (KEY_BYTES + place.valueBytes()) * MAP_FACTOR)
            .setMaxDbs(1)
            .open(Path.of(place.location()).toFile(), EnvFlags.MDB_WRITEMAP, EnvFlags.MDB_NOSYNC);
    this.database = env.openDbi("objects", DbiFlags.MDB_CREATE);
    this.reading = env.txnRead();
    reading.reset();
  }

  @Override
  public void put() {
    if (writing == null) {
      writing = env.txnWrite();
    }
    database.put(writing, key, value);
    if (!inBatches || ++writes == PIPELINE_DEPTH) {
      awaitPuts();
    }
  }

  @Override
  public void awaitPuts() {
    if (writing != null) {
      writing.commit();
      writing.close();
      writing = null;
      writes = 0;
    }
  }

  @Override
  public int get() {
    reading.renew();
    ByteBuffer found = database.get(reading, key);
    int length = found == null ? -1 : found.remaining();
    if (found != null) {
      got.put(0, found, found.position(), length);
    }
    reading.reset();
    return length;
  }

  @Override
  public String durability() {
    return "kill of the process";
  }

  @Override
  public void close() {
    awaitPuts();
    reading.close();
    env.close();
  }
}
