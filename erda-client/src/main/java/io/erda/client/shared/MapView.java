package io.erda.client.shared;

import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.ConcurrentMap;
import java.util.function.IntFunction;
import java.util.function.Predicate;

/**
 * A view of an {@code ErdaMap}. Its bulk removals work as its iterator does: they remove only
 * entries that are still as they were read. The result tells whether any entry was removed.
 *
 * <p>Its spliterator is late-binding and does not know its size: entries may be added and removed
 * while a stream is under way.
 */
public abstract class MapView<K, V, T> extends AbstractCollection<T> {
  final ConcurrentMap<K, V> map;
  final MapStore store;
  final MapBytes<K, V> bytes;

  /**
   * @param map the map that this is a view of, over the same store and with the same serializers
   */
  private MapView(ConcurrentMap<K, V> map, MapStore store, MapBytes<K, V> bytes) {
    this.map = map;
    this.store = store;
    this.bytes = bytes;
  }

  @Override
  public abstract MapIterator<T> iterator();

  @Override
  public int size() {
    return map.size();
  }

  @Override
  public boolean isEmpty() {
    return map.isEmpty();
  }

  @Override
  public void clear() {
    map.clear();
  }

  @Override
  public boolean removeIf(Predicate<? super T> filter) {
    Objects.requireNonNull(filter, "filter");
    boolean changed = false;
    for (MapIterator<T> each = iterator(); each.hasNext(); ) {
      if (filter.test(each.next())) {
        changed |= each.removeSeen();
      }
    }
    return changed;
  }

  @Override
  public boolean removeAll(Collection<?> others) {
    Objects.requireNonNull(others, "others");
    return removeIf(others::contains);
  }

  @Override
  public boolean retainAll(Collection<?> others) {
    Objects.requireNonNull(others, "others");
    return removeIf(each -> !others.contains(each));
  }

  /** Null is in no view, as for a {@code ConcurrentHashMap}, also where {@code contains} throws. */
  @Override
  public boolean containsAll(Collection<?> others) {
    for (Object each : others) {
      if (each == null || !contains(each)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public boolean remove(Object wanted) {
    for (MapIterator<T> each = iterator(); each.hasNext(); ) {
      if (each.next().equals(wanted) && each.removeSeen()) {
        return true;
      }
    }
    return false;
  }

  @Override
  public Spliterator<T> spliterator() {
    return Spliterators.spliteratorUnknownSize(
        iterator(), Spliterator.CONCURRENT | Spliterator.NONNULL);
  }

  private List<T> list() {
    List<T> all = new ArrayList<>();
    iterator().forEachRemaining(all::add);
    return all;
  }

  /**
   * Reads the store once. The inherited method would read it twice, the first time for the size.
   */
  @Override
  public Object[] toArray() {
    return list().toArray();
  }

  @Override
  public <A> A[] toArray(A[] array) {
    return list().toArray(array);
  }

  @Override
  public <A> A[] toArray(IntFunction<A[]> generator) {
    return list().toArray(generator);
  }

  /** All values. */
  public static final class Values<K, V> extends MapView<K, V, V> {
    public Values(ConcurrentMap<K, V> map, MapStore store, MapBytes<K, V> bytes) {
      super(map, store, bytes);
    }

    @Override
    public MapIterator<V> iterator() {
      return new MapIterator.OfEntries<>(store, bytes, MapEntry::getValue);
    }

    @Override
    public boolean contains(Object value) {
      return map.containsValue(value);
    }
  }

  /** A view without duplicates. */
  abstract static class OfSet<K, V, T> extends MapView<K, V, T> implements Set<T> {
    OfSet(ConcurrentMap<K, V> map, MapStore store, MapBytes<K, V> bytes) {
      super(map, store, bytes);
    }

    @Override
    public Spliterator<T> spliterator() {
      return Spliterators.spliteratorUnknownSize(
          iterator(), Spliterator.CONCURRENT | Spliterator.NONNULL | Spliterator.DISTINCT);
    }

    /**
     * Does one step for each element of {@code others}, and not one step for each key of the store.
     */
    @Override
    public boolean removeAll(Collection<?> others) {
      boolean changed = false;
      for (Object each : others) {
        changed |= remove(each);
      }
      return changed;
    }

    @Override
    public boolean equals(Object other) {
      if (other == this) {
        return true;
      }
      if (!(other instanceof Set<?> set) || set.size() != size()) {
        return false;
      }
      try {
        return containsAll(set);
      } catch (ClassCastException | NullPointerException e) {
        return false;
      }
    }

    @Override
    public int hashCode() {
      int sum = 0;
      for (T each : this) {
        sum += each.hashCode();
      }
      return sum;
    }
  }

  /** All keys; no value is read. */
  public static final class Keys<K, V> extends OfSet<K, V, K> {
    public Keys(ConcurrentMap<K, V> map, MapStore store, MapBytes<K, V> bytes) {
      super(map, store, bytes);
    }

    @Override
    public MapIterator<K> iterator() {
      return new MapIterator.OfKeys<>(store, bytes);
    }

    @Override
    public boolean contains(Object key) {
      return map.containsKey(key);
    }

    @Override
    public boolean remove(Object key) {
      return store.delete(bytes.ofKey(key));
    }
  }

  /** All entries. */
  public static final class Entries<K, V> extends OfSet<K, V, Map.Entry<K, V>> {
    public Entries(ConcurrentMap<K, V> map, MapStore store, MapBytes<K, V> bytes) {
      super(map, store, bytes);
    }

    @Override
    public MapIterator<Map.Entry<K, V>> iterator() {
      return new MapIterator.OfEntries<>(store, bytes, entry -> entry);
    }

    @Override
    public boolean contains(Object other) {
      if (!(other instanceof Map.Entry<?, ?> entry) || entry.getKey() == null) {
        return false;
      }
      V now = map.get(entry.getKey());
      return now != null && now.equals(entry.getValue());
    }

    @Override
    public boolean remove(Object other) {
      return other instanceof Map.Entry<?, ?> entry
          && entry.getKey() != null
          && map.remove(entry.getKey(), entry.getValue());
    }
  }
}
