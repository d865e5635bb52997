package io.erda.eval.peers.process;

import io.erda.eval.peers.store.PeerStore;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;

/**
 * A store in a map that several threads use, of objects of 16 bytes. Each adapter belongs to one
 * thread, and counts what it is asked for, by the number in the key's second half.
 */
final class SharedHeapStore implements PeerStore {
  static final int VALUE_BYTES = 16;

  final Map<Long, Long> map;
  final LongAdder gets = new LongAdder();
  final LongAdder puts = new LongAdder();

  /** How often each number was asked for, by all threads. */
  final Map<Long, LongAdder> asked;

  /** The adapters that {@link #another} made, of all threads. */
  final List<SharedHeapStore> others;

  private final Thread owner = Thread.currentThread();
  volatile boolean isClosed;
  private final ByteBuffer key = buffer(KEY_BYTES);
  private final ByteBuffer value = buffer(VALUE_BYTES);
  private final ByteBuffer got = buffer(VALUE_BYTES);

  SharedHeapStore() {
    this(new ConcurrentHashMap<>(), new ConcurrentHashMap<>(), new CopyOnWriteArrayList<>());
  }

  private SharedHeapStore(
      Map<Long, Long> map, Map<Long, LongAdder> asked, List<SharedHeapStore> others) {
    this.map = map;
    this.asked = asked;
    this.others = others;
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
  }

  @Override
  public PeerStore another() {
    SharedHeapStore another = new SharedHeapStore(map, asked, others);
    others.add(another);
    return another;
  }

  @Override
  public ByteBuffer key() {
    return key;
  }

  @Override
  public ByteBuffer value() {
    return value;
  }

  @Override
  public ByteBuffer got() {
    return got;
  }

  private void checkOwner() {
    if (Thread.currentThread() != owner) {
      throw new IllegalStateException("used by a thread that did not make it");
    }
  }

  private long number() {
    checkOwner();
    long number = key.getLong(Long.BYTES);
    asked.computeIfAbsent(number, any -> new LongAdder()).increment();
    return number;
  }

  @Override
  public void put() {
    puts.increment();
    map.put(number(), value.getLong(0));
  }

  @Override
  public int get() {
    gets.increment();
    Long found = map.get(number());
    if (found == null) {
      return -1;
    }
    got.putLong(0, found);
    return VALUE_BYTES;
  }

  @Override
  public String durability() {
    return NO_DURABILITY;
  }

  @Override
  public void close() {
    checkOwner();
    isClosed = true;
  }
}
