package io.erda.client.shared;

import io.erda.client.BatchException;
import io.erda.protocol.ErdaException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;

/**
 * An iterator of a view of an {@code ErdaMap}. When {@link #next()} can't decode an entry, this
 * entry is still the current one: it may be removed, and the next call skips it. When {@code
 * next()} fails before it comes to an entry, nothing can be removed until it has come to one.
 */
public abstract class MapIterator<T> implements Iterator<T> {
  /**
   * Removes the entry that was returned last, if it still is as it was read.
   *
   * @return whether it did
   * @throws IllegalStateException when there is nothing to remove
   */
  abstract boolean removeSeen();

  @Override
  public final void remove() {
    removeSeen();
  }

  private static IllegalStateException nothingToRemove() {
    return new IllegalStateException(
        "next() was not called or came to no entry, or the entry was removed before");
  }

  /** An iterator over keys, which reads no values. */
  static final class OfKeys<K, V> extends MapIterator<K> {
    private final MapStore store;
    private final MapBytes<K, V> bytes;
    private final Iterator<byte[]> left;

    /** The key that was returned last, until it is removed. */
    private byte[] last;

    OfKeys(MapStore store, MapBytes<K, V> bytes) {
      this.store = store;
      this.bytes = bytes;
      left = store.keys();
    }

    @Override
    public boolean hasNext() {
      return left.hasNext();
    }

    @Override
    public K next() {
      byte[] before = last;
      last = null; // stays so when the next line throws
      if (!left.hasNext()) {
        last = before;
        throw new NoSuchElementException();
      }
      last = left.next();
      return bytes.key(last);
    }

    @Override
    boolean removeSeen() {
      if (last == null) {
        throw nothingToRemove();
      }
      boolean removed = store.delete(last);
      last = null;
      return removed;
    }
  }

  /**
   * An iterator over entries. It fetches the values of several keys at once, first of one key and
   * then of more and more, so that the first entry costs little. Keys that have lost their value by
   * then are skipped. After a failure the next call reads the values again, key by key, and skips a
   * key whose value is damaged.
   */
  public static final class OfEntries<K, V, T> extends MapIterator<T> {
    /** How many values are fetched at once. */
    private static final int FETCHED_MAX = 16;

    private final MapStore store;
    private final MapBytes<K, V> bytes;
    private final Function<MapEntry<K, V>, T> shown;
    private final Iterator<byte[]> left;

    /** Keys whose values were not fetched yet. */
    private final List<byte[]> wanted = new ArrayList<>(FETCHED_MAX);

    private final List<MapEntry<K, V>> fetched = new ArrayList<>(FETCHED_MAX);
    private int next;
    private int fetchedMax = 1;

    /** The entry that was returned last, until it is removed. */
    private MapEntry<K, V> last;

    /**
     * @param shown makes the returned object from an entry
     */
    public OfEntries(MapStore store, MapBytes<K, V> bytes, Function<MapEntry<K, V>, T> shown) {
      this.store = store;
      this.bytes = bytes;
      this.shown = shown;
      left = store.keys();
    }

    @Override
    public boolean hasNext() {
      while (next == fetched.size()) {
        while (wanted.size() < fetchedMax && left.hasNext()) {
          wanted.add(left.next());
        }
        if (wanted.isEmpty()) {
          return false;
        }
        fetch(List.copyOf(wanted.subList(0, Math.min(fetchedMax, wanted.size()))));
      }
      return true;
    }

    private void fetch(List<byte[]> keys) {
      fetchedMax = Math.min(2 * fetchedMax, FETCHED_MAX);
      List<byte[]> values;
      try {
        values = store.getAll(keys);
      } catch (BatchException e) {
        fetchedMax = 1;
        // The caller iterates over single entries, and does not know that their values are read in
        // batches. So it gets the exception that reading one entry would have thrown.
        ErdaException first = (ErdaException) e.getCause();
        if (keys.size() == 1 && first instanceof ErdaException.Damaged) {
          wanted.removeFirst();
        }
        throw first;
      }
      wanted.subList(0, keys.size()).clear();
      fetched.clear();
      next = 0;
      for (int i = 0; i < keys.size(); i++) {
        if (values.get(i) != null) {
          fetched.add(new MapEntry<>(store, bytes, keys.get(i), values.get(i)));
        }
      }
    }

    @Override
    public T next() {
      MapEntry<K, V> before = last;
      last = null; // stays so when the next line throws
      if (!hasNext()) {
        last = before;
        throw new NoSuchElementException();
      }
      last = fetched.get(next++);
      return shown.apply(last);
    }

    @Override
    boolean removeSeen() {
      if (last == null) {
        throw nothingToRemove();
      }
      boolean removed = last.removeSeen();
      last = null;
      return removed;
    }
  }
}
