package io.erda.simulation.system;

import io.erda.hashtable.KeyHash;
import io.erda.simulation.history.History;
import io.erda.simulation.history.OperationKind;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/** The operations and results of the clients, and the bytes of keys and values by their IDs. */
final class Workload {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int VALUE_BYTES_MIN = 8;

  final History history = new History();
  private final Configuration configuration;
  private final RandomGenerator random;
  private final LongSupplier hashSeed;
  private final MemorySegment[] keys;
  private final BitSet told = new BitSet();
  private long lastValue;

  /** By key: the value of the put that was begun last. */
  private final long[] newest;

  private int invoked;
  private boolean paired;

  /** The iteration that is under way, or null. */
  private Iteration iteration;

  private String failure;

  /**
   * @param hashSeed of the store; 0 while there is none
   */
  Workload(Configuration configuration, RandomGenerator random, LongSupplier hashSeed) {
    this.configuration = configuration;
    this.random = random;
    this.hashSeed = hashSeed;
    keys = new MemorySegment[configuration.keys()];
    newest = new long[configuration.keys()];
    for (int i = 0; i < keys.length; i++) {
      // The first byte makes keys different, whatever their lengths; twins differ in all bytes.
      byte[] key =
          new byte
              [configuration.twins()
                  ? TwinKeys.KEY_BYTES
                  : random.nextInt(1, configuration.keyBytesMax() + 1)];
      random.nextBytes(key);
      key[0] = (byte) i;
      keys[i] = MemorySegment.ofArray(key);
    }
  }

  /**
   * Once there is a store, makes every second key the twin of the one before, or gives all keys
   * hashes that share their low bits.
   */
  private void pairKeys() {
    long seed = hashesMatter() && !paired ? hashSeed.getAsLong() : 0;
    if (seed == 0) {
      return;
    }
    paired = true;
    shareBits(new KeyHash(seed));
    for (int i = 1; i < keys.length && configuration.twins(); i += 2) {
      if (!history.knows(i)) {
        keys[i] =
            MemorySegment.ofArray(
                TwinKeys.twin((byte[]) keys[i - 1].heapBase().orElseThrow(), seed));
      }
    }
  }

  private boolean hashesMatter() {
    return configuration.twins() || configuration.mix().sharedBits() > 0;
  }

  private void shareBits(KeyHash hash) {
    long mask = (1L << configuration.mix().sharedBits()) - 1;
    long shared = hash.of(keys[0], 0, keys[0].byteSize()) & mask;
    for (int i = 1; i < keys.length; i++) {
      if (history.knows(i)) {
        continue;
      }
      byte[] key = new byte[TwinKeys.KEY_BYTES];
      MemorySegment bytes = MemorySegment.ofArray(key);
      do {
        random.nextBytes(key);
        key[0] = (byte) i;
      } while ((hash.of(bytes, 0, key.length) & mask) != shared);
      keys[i] = bytes;
    }
  }

  boolean isDone() {
    return invoked >= configuration.operations() || failure != null;
  }

  String failure() {
    return failure;
  }

  void fail(String what) {
    if (failure == null) {
      failure = what;
    }
  }

  /**
   * Begins an operation.
   *
   * @param readsOnly whether it must be a get
   * @return false when the client takes no more now
   */
  boolean begin(int client, StoreUnderTest.Client to, boolean readsOnly) {
    pairKeys();
    int draw = random.nextInt(100);
    // Keys are introduced one by one, so that the table fills during the whole run.
    int known = Math.min(keys.length, 4 + 2 * keys.length * invoked / configuration.operations());
    int key = random.nextInt(known);
    invoked++;
    if (readsOnly) {
      return get(client, to, key);
    }
    OperationMix mix = configuration.mix().at(invoked - 1, configuration.operations());
    if (key < mix.staying() && newest[key] != 0 && draw < mix.puts() + mix.deletes()) {
      key = mix.staying() + random.nextInt(keys.length - mix.staying());
    }
    if (draw < mix.puts() + mix.deletes()
        && mix.conditionalPercent() > 0
        && random.nextInt(100) < mix.conditionalPercent()) {
      return conditional(client, to, key, draw >= mix.puts());
    }
    if (draw < mix.puts()) {
      return put(client, to, key);
    }
    if (draw < mix.puts() + mix.deletes()) {
      int token = history.invoke(client, OperationKind.DELETE, key, 0);
      return unlessRefused(token, to.delete(token, keys[key]));
    }
    return get(client, to, key);
  }

  /**
   * Begins an iteration, for which the client is asked for one key after the other. One at a time,
   * because each is one more get of every key for the checker.
   *
   * @return null when none begins now
   */
  Iteration beginIteration(int client) {
    pairKeys();
    if (iteration != null || (hashesMatter() && !paired)) {
      return null;
    }
    iteration = new Iteration(this, client, keys.length);
    return iteration;
  }

  /** Notes that the iteration has ended, or was given up. */
  void iterationIsOver() {
    iteration = null;
  }

  /** The number of a key; −1: the run has no such key. */
  int keyOf(MemorySegment bytes) {
    for (int key = 0; key < keys.length; key++) {
      if (keys[key].mismatch(bytes) < 0) {
        return key;
      }
    }
    return -1;
  }

  boolean get(int client, StoreUnderTest.Client to, int key) {
    int token = history.invoke(client, OperationKind.GET, key, 0);
    return unlessRefused(token, to.get(token, keys[key]));
  }

  private boolean put(int client, StoreUnderTest.Client to, int key) {
    long id = ++lastValue;
    newest[key] = id;
    int token = history.invoke(client, OperationKind.PUT, key, id);
    return unlessRefused(token, to.put(token, keys[key], value(id)));
  }

  /**
   * Begins a conditional put or delete, on the condition that the key has no value, or the value
   * that was probably put last, or one that was put earlier, perhaps to another key.
   */
  private boolean conditional(int client, StoreUnderTest.Client to, int key, boolean delete) {
    int draw = random.nextInt(10);
    long before = draw < 7 ? newest[key] : random.nextLong(lastValue + 1);
    long expected = draw == 0 && !delete ? History.ABSENT : before;
    if (delete) {
      expected = Math.max(1, expected);
      lastValue = Math.max(lastValue, expected);
      int token = history.invokeIf(client, OperationKind.DELETE_IF, key, 0, expected);
      return unlessRefused(token, to.compareAndDelete(token, keys[key], value(expected)));
    }
    long id = ++lastValue;
    newest[key] = id;
    int token = history.invokeIf(client, OperationKind.PUT_IF, key, id, expected);
    return unlessRefused(
        token,
        expected == History.ABSENT
            ? to.putIfAbsent(token, keys[key], value(id))
            : to.compareAndSet(token, keys[key], value(expected), value(id)));
  }

  /** Notes that a client was told how an operation ended, which may happen only once. */
  void told(int token, int client) {
    if (told.get(token)) {
      fail("client " + client + " was told twice of operation " + token);
    }
    told.set(token);
  }

  private boolean unlessRefused(int token, boolean taken) {
    if (!taken) {
      history.failed(token);
    }
    return taken;
  }

  /**
   * The bytes of a value: its ID, then bytes that depend on the ID, in a length that depends on the
   * ID.
   */
  private MemorySegment value(long id) {
    SplittableRandom bytes = new SplittableRandom(id);
    byte[] value =
        new byte
            [bytes.nextInt(
                VALUE_BYTES_MIN, Math.max(VALUE_BYTES_MIN, configuration.valueBytesMax()) + 1)];
    bytes.nextBytes(value);
    MemorySegment segment = MemorySegment.ofArray(value);
    segment.set(LONG, 0, id);
    return segment;
  }

  /** The bytes of a key. */
  MemorySegment key(int key) {
    return keys[key];
  }

  /** The ID of a value that was read, which must be whole; otherwise the run fails. */
  long identify(MemorySegment value) {
    if (value == null) {
      return History.ABSENT;
    }
    long id = value.byteSize() < VALUE_BYTES_MIN ? -1 : value.get(LONG, 0);
    if (id < 1 || id > lastValue) {
      fail("a get returned " + value.byteSize() + " bytes that nobody put");
    } else if (value(id).mismatch(value) >= 0) {
      fail(
          "a get returned value v"
              + id
              + " torn: it differs at byte "
              + value(id).mismatch(value)
              + " of "
              + value.byteSize());
    }
    return id;
  }
}
