package io.erda.client;

import io.erda.protocol.ErdaException;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * A store as a map, for any number of threads and processes. Neither keys nor values are null.
 *
 * <p>Every method on one key is atomic, and takes effect as the operations of {@link ErdaClient}
 * do: what was acknowledged is kept as the store promises. A method that looks at the value first
 * and then changes it does so on the condition that it is still there, and begins anew when it is
 * not; so the functions of {@code compute}, {@code merge} and the like may be called several times
 * for one call, and must have no effects of their own. {@link #set} stores a value without looking,
 * in one round trip; {@link #put} takes two.
 *
 * <p>Values are compared as objects ({@code equals}), keys as bytes: see {@link Serializer}.
 *
 * <p>Methods throw what {@link ErdaClient} and the pool throw. After {@link
 * ErdaException.OutcomeUnknown} the change may have been made or not; a method does not begin anew
 * then.
 *
 * <p>Whatever goes over all entries ({@link #size()}, {@link #containsValue}, iterators, {@code
 * equals}) reads all keys of the store, and is no snapshot: it shows each entry that is there all
 * the time, and may or may not show what is added or removed meanwhile. {@link #putAll} and {@link
 * #clear()} are as many operations as there are keys.
 */
public final class ErdaMap<K, V> extends AbstractMap<K, V> implements ConcurrentMap<K, V> {
  /** How many values an iterator fetches at once. */
  private static final int FETCHED = 16;

  private final MapStore store;
  private final Serializer<K> keys;
  private final Serializer<V> values;

  /**
   * The store of a pool as a map. The pool stays the caller's, who closes it.
   *
   * @param keys writes keys: see {@link Serializer} for what it must keep
   * @param values writes values
   */
  public static <K, V> ErdaMap<K, V> over(
      ErdaClientPool pool, Serializer<K> keys, Serializer<V> values) {
    return new ErdaMap<>(new PoolStore(pool), keys, values);
  }

  ErdaMap(MapStore store, Serializer<K> keys, Serializer<V> values) {
    this.store = Objects.requireNonNull(store, "store");
    this.keys = Objects.requireNonNull(keys, "keys");
    this.values = Objects.requireNonNull(values, "values");
  }

  @SuppressWarnings("unchecked") // a key of another class is a ClassCastException, as Map says
  private byte[] keyBytes(Object key) {
    return keys.toBytes((K) Objects.requireNonNull(key, "key"));
  }

  private byte[] valueBytes(V value) {
    return values.toBytes(Objects.requireNonNull(value, "value"));
  }

  private V value(byte[] bytes) {
    return bytes == null
        ? null
        : Objects.requireNonNull(values.fromBytes(bytes), "a serializer made null of a value");
  }

  // One key.

  @Override
  public V get(Object key) {
    return value(store.get(keyBytes(key)));
  }

  @Override
  public boolean containsKey(Object key) {
    return store.get(keyBytes(key)) != null;
  }

  /** Stores a value without telling what was there before. */
  public void set(K key, V value) {
    store.put(keyBytes(key), valueBytes(value));
  }

  /** Removes a key without telling its value. Returns whether it had one. */
  public boolean delete(K key) {
    return store.delete(keyBytes(key));
  }

  @Override
  public V put(K key, V value) {
    byte[] bytes = keyBytes(key);
    byte[] newBytes = valueBytes(value);
    while (true) {
      byte[] now = store.get(bytes);
      if (swap(bytes, now, newBytes)) {
        return now == null ? null : value(now);
      }
    }
  }

  @Override
  public V putIfAbsent(K key, V value) {
    byte[] bytes = keyBytes(key);
    byte[] newBytes = valueBytes(value);
    while (true) {
      byte[] now = store.get(bytes);
      if (now != null) {
        return value(now);
      }
      if (store.putIfAbsent(bytes, newBytes)) {
        return null;
      }
    }
  }

  @Override
  public V remove(Object key) {
    byte[] bytes = keyBytes(key);
    while (true) {
      byte[] now = store.get(bytes);
      if (now == null || store.compareAndDelete(bytes, now)) {
        return now == null ? null : value(now);
      }
    }
  }

  @Override
  public boolean remove(Object key, Object value) {
    byte[] bytes = keyBytes(key);
    while (true) {
      byte[] now = store.get(bytes);
      if (now == null || !value(now).equals(value)) {
        return false;
      }
      if (store.compareAndDelete(bytes, now)) {
        return true;
      }
    }
  }

  @Override
  public boolean replace(K key, V oldValue, V newValue) {
    Objects.requireNonNull(oldValue, "oldValue");
    byte[] bytes = keyBytes(key);
    byte[] newBytes = valueBytes(newValue);
    while (true) {
      byte[] now = store.get(bytes);
      if (now == null || !value(now).equals(oldValue)) {
        return false;
      }
      if (store.compareAndSet(bytes, now, newBytes)) {
        return true;
      }
    }
  }

  @Override
  public V replace(K key, V value) {
    byte[] bytes = keyBytes(key);
    byte[] newBytes = valueBytes(value);
    while (true) {
      byte[] now = store.get(bytes);
      if (now == null || store.compareAndSet(bytes, now, newBytes)) {
        return now == null ? null : value(now);
      }
    }
  }

  @Override
  public V computeIfAbsent(K key, Function<? super K, ? extends V> function) {
    V now = get(key);
    if (now != null) {
      return now;
    }
    V made = function.apply(key);
    if (made == null) {
      return null;
    }
    V other = putIfAbsent(key, made);
    return other == null ? made : other;
  }

  @Override
  public V computeIfPresent(K key, BiFunction<? super K, ? super V, ? extends V> function) {
    Objects.requireNonNull(function, "function");
    return compute(key, (k, now) -> now == null ? null : function.apply(k, now));
  }

  @Override
  public V compute(K key, BiFunction<? super K, ? super V, ? extends V> function) {
    Objects.requireNonNull(function, "function");
    byte[] bytes = keyBytes(key);
    while (true) {
      byte[] now = store.get(bytes);
      V made = function.apply(key, now == null ? null : value(now));
      boolean done;
      if (made == null) {
        done = now == null || store.compareAndDelete(bytes, now);
      } else {
        done = swap(bytes, now, valueBytes(made));
      }
      if (done) {
        return made;
      }
    }
  }

  @Override
  public V merge(K key, V value, BiFunction<? super V, ? super V, ? extends V> function) {
    Objects.requireNonNull(value, "value");
    Objects.requireNonNull(function, "function");
    return compute(key, (k, now) -> now == null ? value : function.apply(now, value));
  }

  /** Stores a value in the place of the one that was seen, if it is still there. */
  private boolean swap(byte[] key, byte[] seen, byte[] value) {
    return seen == null ? store.putIfAbsent(key, value) : store.compareAndSet(key, seen, value);
  }

  // Many keys.

  /**
   * Stores all entries, without looking at what was there.
   *
   * @throws BatchException when some could not be stored: by the order of the other map's entries
   */
  @Override
  public void putAll(Map<? extends K, ? extends V> map) {
    List<byte[]> allKeys = new ArrayList<>(map.size());
    List<byte[]> allValues = new ArrayList<>(map.size());
    for (Entry<? extends K, ? extends V> each : map.entrySet()) {
      allKeys.add(keyBytes(each.getKey()));
      allValues.add(valueBytes(each.getValue()));
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

  @Override
  public void clear() {
    store.keys().forEachRemaining(store::delete);
  }

  @Override
  public Set<Entry<K, V>> entrySet() {
    return new Entries();
  }

  /** A view of the map. */
  private final class Entries extends AbstractSet<Entry<K, V>> {
    @Override
    public Iterator<Entry<K, V>> iterator() {
      return new EntryIterator();
    }

    @Override
    public int size() {
      return ErdaMap.this.size();
    }

    @Override
    public boolean isEmpty() {
      return ErdaMap.this.isEmpty();
    }

    @Override
    public void clear() {
      ErdaMap.this.clear();
    }

    @Override
    public boolean contains(Object other) {
      if (!(other instanceof Entry<?, ?> entry) || entry.getKey() == null) {
        return false;
      }
      V now = ErdaMap.this.get(entry.getKey());
      return now != null && now.equals(entry.getValue());
    }

    @Override
    public boolean remove(Object other) {
      return other instanceof Entry<?, ?> entry
          && entry.getKey() != null
          && ErdaMap.this.remove(entry.getKey(), entry.getValue());
    }
  }

  /** Fetches the values of some keys at once; keys that are gone by then are passed over. */
  private final class EntryIterator implements Iterator<Entry<K, V>> {
    private final Iterator<byte[]> left = store.keys();
    private List<byte[]> someKeys = List.of();
    private List<byte[]> someValues = List.of();
    private int next;

    /** The key of the entry that was returned last, until it is removed. */
    private byte[] last;

    @Override
    public boolean hasNext() {
      while (true) {
        while (next < someKeys.size()) {
          if (someValues.get(next) != null) {
            return true;
          }
          next++;
        }
        if (!left.hasNext()) {
          return false;
        }
        fetch();
      }
    }

    private void fetch() {
      List<byte[]> wanted = new ArrayList<>(FETCHED);
      while (wanted.size() < FETCHED && left.hasNext()) {
        wanted.add(left.next());
      }
      someValues = store.getAll(wanted);
      someKeys = wanted;
      next = 0;
    }

    @Override
    public Entry<K, V> next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      byte[] bytes = someKeys.get(next);
      byte[] valueBytes = someValues.get(next);
      next++;
      last = bytes;
      return new MapEntry(keys.fromBytes(bytes.clone()), value(valueBytes));
    }

    @Override
    public void remove() {
      if (last == null) {
        throw new IllegalStateException("next() was not called, or the entry was removed before");
      }
      store.delete(last);
      last = null;
    }
  }

  /** An entry as it was when it was fetched; what is set goes to the store. */
  private final class MapEntry extends SimpleEntry<K, V> {
    private static final long serialVersionUID = 1L;

    MapEntry(K key, V value) {
      super(key, value);
    }

    @Override
    public V setValue(V value) {
      set(getKey(), value);
      return super.setValue(value);
    }
  }
}
