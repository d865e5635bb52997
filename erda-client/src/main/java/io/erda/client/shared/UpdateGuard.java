package io.erda.client.shared;

import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * Wraps the store of an {@code ErdaMap}, and refuses changes that a function makes to the key that
 * it computes. Otherwise the map would take the function's own change for another thread's and call
 * the function again, for ever.
 *
 * <p>The keys that a thread computes are bound to the thread while the function runs, for all maps
 * and pools of the same store.
 */
public final class UpdateGuard implements MapStore {
  /** A key that a function is computing, and the update of the enclosing function. */
  private record Update(Object store, byte[] key, Update outer) {}

  private static final ScopedValue<Update> INNERMOST = ScopedValue.newInstance();

  private final MapStore store;
  private final Turns turns = new Turns();

  public UpdateGuard(MapStore store) {
    this.store = Objects.requireNonNull(store, "store");
  }

  /**
   * Calls a function that computes a value of a key.
   *
   * @throws IllegalStateException when a function that computes this key makes the call
   */
  public <T> T computing(byte[] key, Supplier<T> function) {
    requireNotComputed(key);
    Update outer = INNERMOST.isBound() ? INNERMOST.get() : null;
    return ScopedValue.where(INNERMOST, new Update(store.identity(), key, outer))
        .call(function::get);
  }

  /** Returns the attempts of a call that changes a key, which closes them. */
  public Attempts attempts(byte[] key) {
    return new Attempts(turns, key, INNERMOST.isBound());
  }

  /** Asks for the store's identity, which may connect, only when a function computes the key. */
  private void requireNotComputed(byte[] key) {
    if (!INNERMOST.isBound()) {
      return;
    }
    for (Update each = INNERMOST.get(); each != null; each = each.outer) {
      if (Arrays.equals(each.key, key) && each.store.equals(store.identity())) {
        throw new IllegalStateException("Recursive update");
      }
    }
  }

  @Override
  public Object identity() {
    return store.identity();
  }

  @Override
  public byte[] get(byte[] key) {
    return store.get(key);
  }

  @Override
  public List<byte[]> getAll(List<byte[]> keys) {
    return store.getAll(keys);
  }

  @Override
  public void put(byte[] key, byte[] value) {
    requireNotComputed(key);
    store.put(key, value);
  }

  @Override
  public void putAll(List<byte[]> keys, List<byte[]> values) {
    keys.forEach(this::requireNotComputed);
    store.putAll(keys, values);
  }

  @Override
  public boolean putIfAbsent(byte[] key, byte[] value) {
    requireNotComputed(key);
    return store.putIfAbsent(key, value);
  }

  @Override
  public boolean compareAndSet(byte[] key, byte[] expected, byte[] value) {
    requireNotComputed(key);
    return store.compareAndSet(key, expected, value);
  }

  @Override
  public boolean delete(byte[] key) {
    requireNotComputed(key);
    return store.delete(key);
  }

  @Override
  public boolean compareAndDelete(byte[] key, byte[] expected) {
    requireNotComputed(key);
    return store.compareAndDelete(key, expected);
  }

  @Override
  public Iterator<byte[]> keys() {
    return store.keys();
  }
}
