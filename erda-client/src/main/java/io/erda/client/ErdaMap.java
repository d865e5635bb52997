package io.erda.client;

import io.erda.client.shared.Attempts;
import io.erda.client.shared.MapBytes;
import io.erda.client.shared.MapIterator;
import io.erda.client.shared.MapStore;
import io.erda.client.shared.MapView;
import io.erda.client.shared.PoolStore;
import io.erda.client.shared.UpdateGuard;
import io.erda.protocol.ErdaException;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * A store as a map, for any number of threads and processes. Neither keys nor values are null:
 * methods and views treat a null argument as those of {@code ConcurrentHashMap} do.
 *
 * <p>Every method on one key is atomic, and takes effect as the operations of {@link ErdaClient}
 * do: acknowledged changes survive the failures that the store's promise names. A method that reads
 * a value and then changes it makes the change conditional on that value, and starts over when the
 * key has got another value, after a random pause, whose bound doubles each time up to 135 ms. So
 * the functions of {@code compute}, {@code merge} and the like may be called several times for one
 * call, and must have no side effects. {@link #set} stores a value without reading the previous
 * one, in one round trip; {@link #put} takes two.
 *
 * <p>Values are compared as objects ({@code equals}), keys as bytes: see {@link Serializer}.
 *
 * <p>Methods throw the exceptions of {@link ErdaClient} and of the pool. After {@link
 * ErdaException.OutcomeUnknown} the change may have been made or not; the method does not start
 * over then.
 *
 * <p><b>Keys and values that the store does not take.</b> A key that is empty or too long is not in
 * the map: methods that read, remove or replace, also those of the views, return what they return
 * for an absent key. A method that would store such a key, or a value that is too long, throws
 * {@link ErdaException.BadSize}; {@code compute} and the like do so after they called the function.
 *
 * <p><b>Many threads that change one key</b> of a map wait for their turn, after a few attempts
 * that came too late. A call goes on for as long as others come before it; each of its steps ends
 * within the time-outs of its client and of the pool.
 *
 * <p><b>A function that changes the key that it computes</b> through a map, over any pool of the
 * same store, gets {@link IllegalStateException} ("Recursive update"), as from a {@code
 * ConcurrentHashMap}. It may read the key, and change other keys. When the function changes the key
 * through a client or a future, the map cannot distinguish that from another thread's change, and
 * calls the function again.
 *
 * <p><b>Values that can't be decoded.</b> When a serializer can't read the bytes of a key or a
 * value that a method needs, the method throws {@link UndecodableException}, which names the key,
 * and leaves the key unchanged. {@link #set}, {@link #delete}, {@code keySet().remove(key)}, {@link
 * #clear()}, {@link #containsKey}, {@link #size()} and methods that use only keys do not decode
 * values. Entries are decoded when they are used, so the predicate of {@code entrySet().removeIf}
 * may try to get an entry's value, and return true when that throws. After {@code next()} of an
 * iterator has thrown {@code UndecodableException}, {@code remove()} removes the entry that can't
 * be decoded, and the next {@code next()} skips it. After {@code next()} has failed without coming
 * to an entry, with {@link ErdaException.Unavailable} for example, {@code remove()} throws {@link
 * IllegalStateException}.
 *
 * <p><b>Methods over all entries</b> ({@link #size()}, {@link #containsValue}, iterators, streams,
 * {@code equals}) read all keys of the store, and are no snapshots: they include each entry that
 * exists all the time, and may or may not include entries that are added or removed during the
 * call. Iterators and streams first read a few keys, and then more and more at once, so that the
 * first key costs little; spliterators do not know their size. {@link #putAll} and {@link #clear()}
 * do one operation for each key.
 *
 * <p><b>In a full store</b> {@link #delete}, {@link #clear()}, and {@code remove}, {@code removeIf}
 * and {@code removeAll} of {@code keySet()} still remove keys. All other removals, including {@code
 * remove(key)} and {@code remove(key, value)}, are conditional on the value that was read. They
 * need a little space in the log, and throw {@link ErdaException.Full} when there is none.
 *
 * <p><b>Removals and replacements.</b> A method that shows an entry and then removes or replaces it
 * does so only if the entry is still there. In the table <em>the key</em> means that any value of
 * the key is removed or replaced, and <em>the value</em> means that only the value shown is; a
 * value that was removed and put back with the same bytes counts as still there.
 *
 * <table>
 *   <caption>What is removed or replaced, beside {@code java.util.concurrent.ConcurrentHashMap}
 *   </caption>
 *   <tr><th>method</th><th>here</th><th>ConcurrentHashMap</th></tr>
 *   <tr><td>{@code compute}, {@code computeIfPresent}, {@code merge}, {@code replaceAll}</td>
 *       <td>the value that the function was given; else calls it again with the new one</td>
 *       <td>the same, under a lock: the function is called once</td></tr>
 *   <tr><td>{@code computeIfAbsent}</td><td>stores if there is still no value, else returns that
 *       value</td><td>the same, under a lock</td></tr>
 *   <tr><td>{@code put}, {@code replace(key, value)}, {@code remove(key)}</td>
 *       <td>the value that is returned; else tries again</td><td>the same</td></tr>
 *   <tr><td>{@code replace(key, old, new)}, {@code remove(key, value)}, {@code
 *       entrySet().remove(entry)}, {@code entrySet().removeAll}</td>
 *       <td>a value that equals the given one</td><td>the same</td></tr>
 *   <tr><td>{@code entrySet().removeIf}, {@code values().removeIf}</td><td>the value</td>
 *       <td>the value</td></tr>
 *   <tr><td>{@code values().remove}, {@code removeAll} and {@code retainAll} of values, {@code
 *       retainAll} of entries</td><td>the value</td><td>the key</td></tr>
 *   <tr><td>{@code remove()} of iterators over entries and values</td><td>the value; else nothing
 *       happens</td><td>the key</td></tr>
 *   <tr><td>{@code Entry.setValue}</td><td>the value; else {@link IllegalStateException}, and
 *       nothing is stored</td><td>the key, which is put again if it is gone</td></tr>
 *   <tr><td>{@code keySet()}: {@code remove}, {@code removeIf}, {@code removeAll}, {@code
 *       retainAll}, iterators; {@link #clear()}</td><td>the key</td><td>the key</td></tr>
 * </table>
 *
 * <p>The result of such a call is true only if it removed something itself.
 */
public final class ErdaMap<K, V> extends AbstractMap<K, V> implements ConcurrentMap<K, V> {
  private final UpdateGuard store;
  private final MapBytes<K, V> bytes;
  private final Set<K> keyView;
  private final Collection<V> valueView;
  private final Set<Entry<K, V>> entryView;

  /**
   * Returns the store of a pool as a map. The map borrows the pool: the caller closes it.
   *
   * @param keys serializes keys; {@link Serializer} states its obligations
   * @param values serializes values
   */
  public static <K, V> ErdaMap<K, V> over(
      ErdaClientPool pool, Serializer<K> keys, Serializer<V> values) {
    Objects.requireNonNull(pool, "pool");
    return new ErdaMap<>(new PoolStore(pool, pool::storeId), keys, values);
  }

  ErdaMap(MapStore store, Serializer<K> keys, Serializer<V> values) {
    this.store = new UpdateGuard(store);
    bytes = new MapBytes<>(keys, values);
    keyView = new MapView.Keys<>(this, this.store, bytes);
    valueView = new MapView.Values<>(this, this.store, bytes);
    entryView = new MapView.Entries<>(this, this.store, bytes);
  }

  // One key.

  @Override
  public V get(Object key) {
    byte[] keyBytes = bytes.ofKey(key);
    return bytes.value(keyBytes, store.get(keyBytes));
  }

  @Override
  public boolean containsKey(Object key) {
    return store.get(bytes.ofKey(key)) != null;
  }

  /**
   * {@inheritDoc} Reads all of the store.
   *
   * @throws NullPointerException when the value is null, as for a {@code ConcurrentHashMap}
   */
  @Override
  public boolean containsValue(Object value) {
    return super.containsValue(Objects.requireNonNull(value));
  }

  /** Stores a value without returning the previous one. */
  public void set(K key, V value) {
    store.put(bytes.ofKey(key), bytes.ofValue(value));
  }

  /** Removes a key without returning its value. Returns whether it had one. */
  public boolean delete(K key) {
    return store.delete(bytes.ofKey(key));
  }

  @Override
  public V put(K key, V value) {
    byte[] keyBytes = bytes.ofKey(key);
    byte[] newBytes = bytes.ofValue(value);
    try (Attempts attempts = store.attempts(keyBytes)) {
      for (; ; attempts.late()) {
        byte[] now = store.get(keyBytes);
        V before = bytes.value(keyBytes, now);
        if (swap(keyBytes, now, newBytes)) {
          return before;
        }
      }
    }
  }

  @Override
  public V putIfAbsent(K key, V value) {
    byte[] keyBytes = bytes.ofKey(key);
    byte[] newBytes = bytes.ofValue(value);
    try (Attempts attempts = store.attempts(keyBytes)) {
      for (; ; attempts.late()) {
        byte[] now = store.get(keyBytes);
        if (now != null) {
          return bytes.value(keyBytes, now);
        }
        if (store.putIfAbsent(keyBytes, newBytes)) {
          return null;
        }
      }
    }
  }

  @Override
  public V remove(Object key) {
    byte[] keyBytes = bytes.ofKey(key);
    try (Attempts attempts = store.attempts(keyBytes)) {
      for (; ; attempts.late()) {
        byte[] now = store.get(keyBytes);
        V before = bytes.value(keyBytes, now);
        if (now == null || store.compareAndDelete(keyBytes, now)) {
          return before;
        }
      }
    }
  }

  @Override
  public boolean remove(Object key, Object value) {
    byte[] keyBytes = bytes.ofKey(key);
    try (Attempts attempts = store.attempts(keyBytes)) {
      for (; ; attempts.late()) {
        byte[] now = store.get(keyBytes);
        if (now == null || !bytes.value(keyBytes, now).equals(value)) {
          return false;
        }
        if (store.compareAndDelete(keyBytes, now)) {
          return true;
        }
      }
    }
  }

  @Override
  public boolean replace(K key, V oldValue, V newValue) {
    Objects.requireNonNull(oldValue, "oldValue");
    byte[] keyBytes = bytes.ofKey(key);
    byte[] newBytes = bytes.ofValue(newValue);
    try (Attempts attempts = store.attempts(keyBytes)) {
      for (; ; attempts.late()) {
        byte[] now = store.get(keyBytes);
        if (now == null || !bytes.value(keyBytes, now).equals(oldValue)) {
          return false;
        }
        if (store.compareAndSet(keyBytes, now, newBytes)) {
          return true;
        }
      }
    }
  }

  @Override
  public V replace(K key, V value) {
    byte[] keyBytes = bytes.ofKey(key);
    byte[] newBytes = bytes.ofValue(value);
    try (Attempts attempts = store.attempts(keyBytes)) {
      for (; ; attempts.late()) {
        byte[] now = store.get(keyBytes);
        V before = bytes.value(keyBytes, now);
        if (now == null || store.compareAndSet(keyBytes, now, newBytes)) {
          return before;
        }
      }
    }
  }

  @Override
  public V computeIfAbsent(K key, Function<? super K, ? extends V> function) {
    Objects.requireNonNull(function, "function");
    V now = get(key);
    if (now != null) {
      return now;
    }
    V made = store.computing(bytes.ofKey(key), () -> function.apply(key));
    if (made == null) {
      return null;
    }
    V other = putIfAbsent(key, made);
    return other == null ? made : other;
  }

  @Override
  public V computeIfPresent(K key, BiFunction<? super K, ? super V, ? extends V> function) {
    Objects.requireNonNull(function, "function");
    byte[] keyBytes = bytes.ofKey(key);
    byte[] now = store.get(keyBytes);
    return now == null ? null : compute(key, keyBytes, now, false, function);
  }

  @Override
  public V compute(K key, BiFunction<? super K, ? super V, ? extends V> function) {
    Objects.requireNonNull(function, "function");
    byte[] keyBytes = bytes.ofKey(key);
    return compute(key, keyBytes, store.get(keyBytes), true, function);
  }

  @Override
  public V merge(K key, V value, BiFunction<? super V, ? super V, ? extends V> function) {
    Objects.requireNonNull(value, "value");
    Objects.requireNonNull(function, "function");
    return compute(key, (k, now) -> now == null ? value : function.apply(now, value));
  }

  @Override
  public void replaceAll(BiFunction<? super K, ? super V, ? extends V> function) {
    Objects.requireNonNull(function, "function");
    BiFunction<K, V, V> notNull =
        (key, now) -> Objects.requireNonNull(function.apply(key, now), "the function made null");
    new MapIterator.OfEntries<>(store, bytes, entry -> entry)
        .forEachRemaining(
            entry -> compute(entry.getKey(), entry.keyBytes(), entry.valueBytes(), false, notNull));
  }

  /**
   * Stores the result of a function of a value, or removes the key when the result is null.
   *
   * @param first the value that was read, null when there was none
   * @param ofAbsent whether the function is also called when there is no value any more
   */
  private V compute(
      K key,
      byte[] keyBytes,
      byte[] first,
      boolean ofAbsent,
      BiFunction<? super K, ? super V, ? extends V> function) {
    try (Attempts attempts = store.attempts(keyBytes)) {
      for (byte[] now = first; now != null || ofAbsent; now = store.get(keyBytes)) {
        V before = bytes.value(keyBytes, now);
        V made = store.computing(keyBytes, () -> function.apply(key, before));
        boolean done;
        if (made == null) {
          done = now == null || store.compareAndDelete(keyBytes, now);
        } else {
          done = swap(keyBytes, now, bytes.ofValue(made));
        }
        if (done) {
          return made;
        }
        attempts.late();
      }
    }
    return null;
  }

  /** Replaces the value that was read, if it is still there. */
  private boolean swap(byte[] key, byte[] seen, byte[] value) {
    return seen == null ? store.putIfAbsent(key, value) : store.compareAndSet(key, seen, value);
  }

  // Many keys.

  /**
   * Stores all entries, without reading the previous values.
   *
   * @throws BatchException when some entries could not be stored; its errors are in the order of
   *     the other map's entries
   */
  @Override
  public void putAll(Map<? extends K, ? extends V> map) {
    List<byte[]> allKeys = new ArrayList<>();
    List<byte[]> allValues = new ArrayList<>();
    for (Entry<? extends K, ? extends V> each : map.entrySet()) {
      allKeys.add(bytes.ofKey(each.getKey()));
      allValues.add(bytes.ofValue(each.getValue()));
    }
    store.putAll(allKeys, allValues);
  }

  /** Counts the keys, by reading all of them. */
  @Override
  public int size() {
    long count = 0;
    for (Iterator<byte[]> each = store.keys(); each.hasNext(); each.next()) {
      count++;
    }
    return (int) Math.min(count, Integer.MAX_VALUE);
  }

  @Override
  public boolean isEmpty() {
    return !store.keys().hasNext();
  }

  /** Removes every key that it finds, with any value. */
  @Override
  public void clear() {
    store.keys().forEachRemaining(store::delete);
  }

  @Override
  public Set<K> keySet() {
    return keyView;
  }

  @Override
  public Collection<V> values() {
    return valueView;
  }

  @Override
  public Set<Entry<K, V>> entrySet() {
    return entryView;
  }
}
