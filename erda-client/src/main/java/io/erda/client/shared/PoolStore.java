package io.erda.client.shared;

import io.erda.client.ErdaClient;
import io.erda.client.ErdaClientPool;
import io.erda.protocol.ErdaException;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/** The store of a pool's clients, as {@code ErdaMap} uses it. */
public final class PoolStore implements MapStore {
  private final ErdaClientPool pool;
  private final Supplier<UUID> storeId;

  /**
   * @param storeId the store that the pool is connected to; null before its first connection
   */
  public PoolStore(ErdaClientPool pool, Supplier<UUID> storeId) {
    this.pool = pool;
    this.storeId = storeId;
  }

  /**
   * {@inheritDoc} Makes the pool's first connection if there was none: two pools are known to be of
   * one store only when both have been connected.
   *
   * @throws ErdaException the exceptions of {@link ErdaClientPool#borrow()}
   */
  @Override
  public Object identity() {
    UUID store = storeId.get();
    return store == null ? pool.with(ErdaClient::storeId) : store;
  }

  @Override
  public byte[] get(byte[] key) {
    try {
      return pool.get(key);
    } catch (ErdaException.BadSize e) {
      return null;
    }
  }

  @Override
  public List<byte[]> getAll(List<byte[]> keys) {
    return pool.getAll(keys);
  }

  @Override
  public void put(byte[] key, byte[] value) {
    pool.put(key, value);
  }

  @Override
  public void putAll(List<byte[]> keys, List<byte[]> values) {
    pool.putAll(keys, values);
  }

  @Override
  public boolean putIfAbsent(byte[] key, byte[] value) {
    return pool.putIfAbsent(key, value);
  }

  @Override
  public boolean compareAndSet(byte[] key, byte[] expected, byte[] value) {
    return pool.compareAndSet(key, expected, value);
  }

  @Override
  public boolean delete(byte[] key) {
    try {
      return pool.delete(key);
    } catch (ErdaException.BadSize e) {
      return false;
    }
  }

  @Override
  public boolean compareAndDelete(byte[] key, byte[] expected) {
    try {
      return pool.compareAndDelete(key, expected);
    } catch (ErdaException.BadSize e) {
      return false;
    }
  }

  @Override
  public Iterator<byte[]> keys() {
    return pool.keys();
  }
}
