package io.erda.client;

import io.erda.client.calls.BatchCalls;
import io.erda.client.calls.BlockingCalls;
import io.erda.client.calls.ClientCore;
import io.erda.client.calls.Confinement;
import io.erda.client.calls.Forgotten;
import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Devices;
import io.erda.client.connections.KnownStore;
import io.erda.client.connections.LocalPublisher;
import io.erda.client.gets.Get;
import io.erda.client.iteration.ScanOrder;
import io.erda.client.operations.CallersMemory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Handshake.Welcome;
import io.erda.protocol.Promise;
import io.erda.rdma.Device;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.function.LongSupplier;

/**
 * A client of one store: get, put, delete (Erda paper, section 3.3). Gets are one-sided READs that
 * the server does not notice; puts and deletes are one round trip.
 *
 * <p>A client belongs to one thread at a time; make one for each thread. The first thread that
 * calls an operation owns the client; the thread that connected it does not matter. A call by
 * another thread does nothing, and throws {@link WrongThreadException}, which names both threads.
 * Another thread can become the owner when the owner has called {@link #handOver()} or has ended.
 * Any thread may call {@link #close()} and the methods that only inform ({@link #statistics()},
 * {@link #promise()} and the like).
 *
 * <p>Each call blocks until it is done or fails with an {@link ErdaException}, at the latest after
 * {@link ClientOptions#operationTimeout()}. An interrupt ends no call, because the outcome of a put
 * would then be unknown. The call goes on, sleeping as before, and the thread's interrupt status
 * stays set; to end a call early, close the client from another thread. Keys are 1 to {@link
 * #keyBytesMax()} bytes, values 0 to {@link #valueBytesMax(int)}. The {@link MemorySegment} forms
 * allocate nothing in the steady state; segments may lie on the heap or outside of it.
 *
 * <p><b>Several keys in one call.</b> {@link #getAll}, {@link #putAll} and {@link #deleteAll} are
 * one operation for each key, and no transaction: each operation takes effect or fails by itself.
 * Up to 16 of them are under way at a time ({@link ClientOptions#pipelineDepth()} when that is
 * less), so that their waits overlap: cache misses over shared memory, round trips over a network.
 * Puts and deletes of one key in one call take effect in the order of the call. The time-out of
 * each key starts when its operation begins; when none of the operations under way finds a server,
 * the remaining keys are not tried, and fail with {@code Unavailable}.
 *
 * <p><b>A client that only reads</b>, of {@code erda+shm:/path/to/data?read-only}, gets and
 * iterates by the store's files alone: it needs the right to read them, and no server. Operations
 * that would change something, or ask a server, throw {@link ErdaException.ReadOnly} before
 * anything is done.
 *
 * <p><b>Close it.</b> A client of a URI or of an embedded store that has become unreachable is
 * closed when the garbage collector finds it, and the {@link System.Logger} {@code io.erda.client}
 * logs a warning that says where the client was opened. Until then its connection, and over shared
 * memory its files, stay open.
 *
 * <p>Operations on one key are linearizable. {@link #promise()} tells which failures an
 * acknowledged put survives. When the server is restarted the next operation connects anew. While
 * no server runs, gets over shared memory go on, until the client finds that the store was deleted
 * or replaced. Errors of every operation:
 *
 * <ul>
 *   <li>{@link ErdaException.Unavailable}: there is no server, or it does not answer; nothing was
 *       changed, and trying again is safe
 *   <li>{@link ErdaException.OutcomeUnknown}: the server had begun with a put or delete when the
 *       connection ended before its answer; or the store's files failed during the operation. When
 *       {@link ErdaException.OutcomeUnknown#isFinal()} is true, the operation has taken effect or
 *       never will; otherwise it may still take effect later. Operations that the server had not
 *       begun with are taken back, and fail with {@code Unavailable}
 *   <li>{@link ErdaException.Refused}: the server has another store, version or promise than
 *       before, or the store is open elsewhere
 *   <li>{@link ErdaException.Damaged}: the object of this key has other bytes than were written, or
 *       lay in a file that somebody shortened; the message names that file
 *   <li>{@link ErdaException.ReadOnly}: the store's files failed, and it takes no more puts and
 *       deletes; the key is unchanged, and gets go on. Or the client only reads
 *   <li>{@link ErdaException.BadSize}, {@link ErdaException.Full}
 *   <li>{@link IllegalStateException}: the client is closed, or was closed by another thread during
 *       the call; nothing was changed. A call with several keys then fails with {@code Unavailable}
 *       for each key that was not changed
 *   <li>{@link IllegalStateException}, {@link WrongThreadException}, {@link
 *       IllegalArgumentException}: the memory of a segment is freed, belongs to another thread, or
 *       is read-only where a value is to be copied. Nothing was changed: a call checks all its
 *       arguments before it changes anything
 *   <li>{@link ErdaException.BadArgument}: the memory of a segment went away during the call,
 *       because its arena was closed, or the file that it maps was shortened; nothing was changed
 * </ul>
 */
public final class ErdaClient implements AutoCloseable {
  /** The length that {@link #getAll} reports for a value that could not be read. */
  public static final long FAILED = BatchCalls.FAILED;

  private final ClientCore core;
  private final KnownStore store;
  private final Device owned;
  private final Confinement confinement = new Confinement();
  private final BlockingCalls calls;

  /** Null before the first call with several keys. */
  private BatchCalls batches;

  /** The newest cursor; null before the first. */
  private KeyCursor cursor;

  /** Null when the client borrows its device from the caller. */
  private Forgotten forgotten;

  private ErdaClient(ClientCore core, Device owned) {
    this.core = core;
    this.store = core.context.store();
    this.owned = owned;
    this.calls = new BlockingCalls(core, confinement);
  }

  /**
   * Connects to a store.
   *
   * @param uri {@code erda+shm:/path/to/data}, {@code erda+shm:/path/to/data?read-only}, {@code
   *     erda://host:port} or {@code erda+rdma://host:port}
   * @throws ErdaException.BadArgument when the URI can't be parsed, or names a device that this
   *     build does not have
   * @throws ErdaException.Unavailable when there is no server
   * @throws ErdaException.Refused when client and server are incompatible
   */
  public static ErdaClient connect(String uri) {
    return connect(ErdaUri.parse(uri), ClientOptions.DEFAULT);
  }

  /** Connects to a store: see {@link #connect(String)}. */
  public static ErdaClient connect(ErdaUri uri, ClientOptions options) {
    Device device = Devices.open(uri);
    try {
      return blocking(
          ClientContext.of(
                  device,
                  Devices.address(uri),
                  options,
                  Devices.CLOCK,
                  ProcessHandle.current().pid())
              .reading(Devices.reading(uri)),
          device);
    } catch (LinkageError | OutOfMemoryError e) {
      device.close();
      throw Devices.unusable(uri, e);
    } catch (RuntimeException | Error e) {
      device.close();
      throw e;
    }
  }

  /**
   * Connects over a device that the client borrows: the caller closes it after the client. Blocks:
   * not for a device in virtual time, which takes {@link ErdaAsyncClient#over}. A device belongs to
   * one thread, so with several clients over one device all calls, {@link #close()} included, are
   * for that thread.
   *
   * @param address the address of the server, in the device's form
   * @param nanoTime the clock for time-outs, monotonic, ns
   */
  public static ErdaClient over(
      Device device, String address, ClientOptions options, LongSupplier nanoTime) {
    return blocking(
        ClientContext.of(device, address, options, nanoTime, ProcessHandle.current().pid()), null);
  }

  /**
   * Connects to a store in this process, over a device that the client owns. The device is closed
   * with the client, or when this method throws. {@code ErdaStore.client()} calls this for an
   * application.
   *
   * @param publisher publisher of the server at the address; null when puts are sent as messages
   */
  public static ErdaClient over(
      Device device,
      String address,
      ClientOptions options,
      LongSupplier nanoTime,
      LocalPublisher publisher) {
    try {
      return blocking(
          ClientContext.of(
              device, address, options, nanoTime, ProcessHandle.current().pid(), publisher),
          device);
    } catch (RuntimeException | Error e) {
      device.close();
      throw e;
    }
  }

  static ErdaClient blocking(ClientContext context, Device owned) {
    ErdaClient client =
        new ErdaClient(new ClientCore(context, depth(context.options()), null), owned);
    try {
      client.calls.connect();
      client.confinement.handOver();
      if (owned != null) {
        // The collector must not find the client while it is in use. A call under way, or a cursor,
        // keeps the confinement reachable until it ends.
        client.forgotten =
            Forgotten.watch(
                client.confinement,
                "a client of " + context.address(),
                Forgotten.releasing(owned, context.reading()));
      }
    } catch (RuntimeException | Error e) {
      client.core.close();
      throw e;
    }
    return client;
  }

  private static int depth(ClientOptions options) {
    return Math.min(BatchCalls.DEPTH_MAX, options.pipelineDepth());
  }

  /**
   * Stores a value. When this returns, the value survives the failures that {@link #promise()}
   * names.
   */
  public void put(byte[] key, byte[] value) {
    put(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
  }

  /**
   * Stores a value. When this returns, the value survives the failures that {@link #promise()}
   * names, and both segments may be reused.
   */
  public void put(MemorySegment key, MemorySegment value) {
    confinement.enter();
    try {
      core.requireServer("put");
      store.requireKey(key.byteSize());
      store.requireValue(key.byteSize(), value.byteSize());
      CallersMemory.require(key, "the key");
      CallersMemory.require(value, "the value");
      calls.put(key, value);
    } finally {
      confinement.leave();
    }
  }

  /**
   * Whether an Error has interrupted an operation, so that the operation's state is unknown.
   * REQUIRES: no call is under way.
   */
  boolean isLeftInTheMiddle() {
    return calls.isLeftInTheMiddle();
  }

  /** Returns the value of a key, or null when the key has none. */
  public byte[] get(byte[] key) {
    confinement.enter();
    try {
      store.requireKey(key.length);
      Get get = calls.freeGet();
      get.key(key);
      calls.run(get);
      if (get.length < 0) {
        return null;
      }
      byte[] value = new byte[(int) get.length];
      get.copyValue(value);
      return value;
    } finally {
      confinement.leave();
    }
  }

  /**
   * Copies the value of a key to the beginning of {@code into}.
   *
   * @return the length of the value in bytes; -1 when the key has no value. When the length is more
   *     than {@code into.byteSize()}, nothing was copied
   */
  public long get(MemorySegment key, MemorySegment into) {
    confinement.enter();
    try {
      store.requireKey(key.byteSize());
      Get get = calls.freeGet();
      get.key(key);
      calls.run(get);
      long length = get.length;
      if (length > 0 && length <= into.byteSize()) {
        get.copyValue(into);
      } else {
        CallersMemory.requireWritable(into, "the segment for the value");
      }
      return length;
    } catch (RuntimeException e) {
      // A get changes nothing, so its copies may show that the memory can't be used. Checks before
      // them would cost 40 ns, because C2 would inline less of the get.
      CallersMemory.require(key, "the key");
      CallersMemory.requireWritable(into, "the segment for the value");
      throw e;
    } finally {
      confinement.leave();
    }
  }

  /** Removes a key and its value. Returns whether it had one. */
  public boolean delete(byte[] key) {
    return delete(MemorySegment.ofArray(key));
  }

  /** Removes a key and its value. Returns whether it had one. */
  public boolean delete(MemorySegment key) {
    confinement.enter();
    try {
      core.requireServer("delete");
      store.requireKey(key.byteSize());
      CallersMemory.require(key, "the key");
      return calls.put(key, null);
    } finally {
      confinement.leave();
    }
  }

  /**
   * Returns the values of several keys, in the order of the keys; null for a key that has no value.
   *
   * @throws BatchException when some values could not be read; it has the exception of each
   */
  public List<byte[]> getAll(List<byte[]> keys) {
    byte[][] wanted = keys.toArray(byte[][]::new);
    byte[][] values = new byte[wanted.length][];
    ErdaException[] errors = new ErdaException[wanted.length];
    confinement.enter();
    try {
      BatchException.throwIfAny(batches().get(wanted, values, errors), errors);
    } finally {
      confinement.leave();
    }
    return Arrays.asList(values);
  }

  /**
   * Copies the values of several keys, each to the beginning of its segment. Allocates nothing in
   * the steady state. All arrays are of one length.
   *
   * @param lengths receives the length of each value in bytes: -1 when the key has no value, {@link
   *     #FAILED} when the value could not be read. A value that is longer than its segment of
   *     {@code into} was not copied
   * @param errors receives the exception of each value that could not be read; null for each other
   *     key
   * @return the number of values that could not be read
   */
  public int getAll(
      MemorySegment[] keys, MemorySegment[] into, long[] lengths, ErdaException[] errors) {
    BatchCalls.requireAll(keys, into, true, lengths.length, errors.length);
    confinement.enter();
    try {
      return batches().get(keys, into, lengths, errors);
    } finally {
      confinement.leave();
    }
  }

  /**
   * Stores several values, each under the key with the same index. When this returns, all values
   * survive the failures that {@link #promise()} names.
   *
   * @throws BatchException when some values could not be stored; it has the exception of each. All
   *     other values are stored
   */
  public void putAll(List<byte[]> keys, List<byte[]> values) {
    ErdaException[] errors = new ErdaException[keys.size()];
    BatchException.throwIfAny(putAll(segments(keys), segments(values), errors), errors);
  }

  /**
   * Stores several values, each under the key with the same index. Allocates nothing in the steady
   * state. All arrays have the same length. When this returns each put has ended, and all segments
   * may be reused.
   *
   * @param errors receives the exception of each value that could not be stored; null for each
   *     value that is stored
   * @return the number of values that could not be stored
   */
  public int putAll(MemorySegment[] keys, MemorySegment[] values, ErdaException[] errors) {
    BatchCalls.requireAll(keys, values, false, keys.length, errors.length);
    confinement.enter();
    try {
      core.requireServer("put");
      return batches().put(keys, values, null, errors);
    } finally {
      confinement.leave();
    }
  }

  /**
   * Removes several keys and their values. Returns for each key whether it had a value.
   *
   * @throws BatchException when some keys could not be removed; it has the exception of each. All
   *     other keys are removed
   */
  public boolean[] deleteAll(List<byte[]> keys) {
    boolean[] existed = new boolean[keys.size()];
    ErdaException[] errors = new ErdaException[existed.length];
    BatchException.throwIfAny(deleteAll(segments(keys), existed, errors), errors);
    return existed;
  }

  /**
   * Removes several keys and their values. Allocates nothing in the steady state. All arrays have
   * the same length.
   *
   * @param existed receives whether each key had a value; false when that is not known
   * @param errors receives the exception of each key that could not be removed; null for each other
   *     key
   * @return the number of keys that could not be removed
   */
  public int deleteAll(MemorySegment[] keys, boolean[] existed, ErdaException[] errors) {
    BatchCalls.requireAll(keys, null, false, existed.length, errors.length);
    confinement.enter();
    try {
      core.requireServer("delete");
      return batches().put(keys, null, existed, errors);
    } finally {
      confinement.leave();
    }
  }

  private BatchCalls batches() {
    if (batches == null) {
      core.makeAll();
      batches = new BatchCalls(core, calls);
    }
    return batches;
  }

  private static MemorySegment[] segments(List<byte[]> arrays) {
    MemorySegment[] segments = new MemorySegment[arrays.size()];
    int i = 0;
    for (byte[] each : arrays) {
      segments[i++] = MemorySegment.ofArray(each);
    }
    return segments;
  }

  /** Stores a value if the key has none: see {@link #putIfAbsent(MemorySegment, MemorySegment)}. */
  public boolean putIfAbsent(byte[] key, byte[] value) {
    return putIfAbsent(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
  }

  /**
   * Stores a value if the key has none. The client first finds out by one-sided READs whether the
   * key has a value. If it has none, the server checks the condition again when it stores the
   * version word, so that only one of several clients succeeds.
   *
   * @return whether the value was stored; false when the key had a value, which it keeps
   */
  public boolean putIfAbsent(MemorySegment key, MemorySegment value) {
    confinement.enter();
    try {
      core.requireServer("putIfAbsent");
      store.requireKey(key.byteSize());
      store.requireValue(key.byteSize(), value.byteSize());
      CallersMemory.require(key, "the key");
      CallersMemory.require(value, "the value");
      return calls.putIfAbsent(key, value);
    } finally {
      confinement.leave();
    }
  }

  /** Replaces a value: see {@link #compareAndSet(MemorySegment, MemorySegment, MemorySegment)}. */
  public boolean compareAndSet(byte[] key, byte[] expected, byte[] value) {
    return compareAndSet(
        MemorySegment.ofArray(key), MemorySegment.ofArray(expected), MemorySegment.ofArray(value));
  }

  /**
   * Replaces a value if it is the expected one. The server compares the values when it stores the
   * version word, by length and a hash of 128 bits. A value that was replaced and put back in the
   * meantime counts as the expected one. The call takes one round trip and space in the log,
   * whether the value is replaced or not. When the expected value is longer than any value of the
   * key can be, the result is false, without a round trip.
   *
   * @return whether the value was stored; false when the key has another value, or none
   * @throws ErdaException.Damaged when the object of the key is damaged; nothing was changed
   */
  public boolean compareAndSet(MemorySegment key, MemorySegment expected, MemorySegment value) {
    confinement.enter();
    try {
      core.requireServer("compareAndSet");
      store.requireKey(key.byteSize());
      store.requireValue(key.byteSize(), value.byteSize());
      CallersMemory.require(key, "the key");
      CallersMemory.require(expected, "the expected value");
      CallersMemory.require(value, "the value");
      return store.canHave(key, expected) && calls.putIfEqual(key, expected, value);
    } finally {
      confinement.leave();
    }
  }

  /** Removes a key: see {@link #compareAndDelete(MemorySegment, MemorySegment)}. */
  public boolean compareAndDelete(byte[] key, byte[] expected) {
    return compareAndDelete(MemorySegment.ofArray(key), MemorySegment.ofArray(expected));
  }

  /**
   * Removes a key if it has the expected value; values are compared as by {@link
   * #compareAndSet(MemorySegment, MemorySegment, MemorySegment)}. Unlike {@link
   * #delete(MemorySegment)} it needs space in the log.
   *
   * @return whether the key was removed; false when the key has another value, or none
   */
  public boolean compareAndDelete(MemorySegment key, MemorySegment expected) {
    confinement.enter();
    try {
      core.requireServer("compareAndDelete");
      store.requireKey(key.byteSize());
      CallersMemory.require(key, "the key");
      CallersMemory.require(expected, "the expected value");
      return store.canHave(key, expected) && calls.putIfEqual(key, expected, null);
    } finally {
      confinement.leave();
    }
  }

  /**
   * Begins an iteration over all keys of the store. It is one-sided as a get is: the server does
   * not notice it. A client has one cursor at a time, and may get, put and delete while the cursor
   * is open.
   *
   * @throws IllegalStateException while a cursor of this client is open: neither closed nor at its
   *     end
   */
  public KeyCursor keys() {
    return cursor(null, false);
  }

  /**
   * Reads the keys of the next stretch of an iteration. Another client of the store may have begun
   * the iteration.
   *
   * @param order the state of the iteration, null at its beginning. After a failure pass the same
   *     state again, because the stretch was not completed
   * @param into receives the keys; may have received some of them when the call fails
   * @param damaged receives an exception for each damaged object
   * @return the state of the iteration after this stretch
   */
  ScanOrder nextStretch(ScanOrder order, Queue<byte[]> into, Queue<ErdaException.Damaged> damaged) {
    try (KeyCursor stretch = cursor(order, true)) {
      while (true) {
        try {
          if (!stretch.next()) {
            return core.scan().order();
          }
          into.add(stretch.key());
        } catch (ErdaException.Damaged e) {
          damaged.add(e);
        }
      }
    }
  }

  private KeyCursor cursor(ScanOrder from, boolean ofOneStretch) {
    confinement.enter();
    try {
      if (cursor != null && cursor.isOpen()) {
        throw new IllegalStateException("another cursor of this client is open");
      }
      core.scan().rewind(from, ofOneStretch);
      cursor = new KeyCursor(core.scan(), calls, confinement);
      return cursor;
    } finally {
      confinement.leave();
    }
  }

  /**
   * Returns the server's figures by name, in the order in which the server lists them.
   *
   * @throws ErdaException.ReadOnly when the client only reads: it has no server
   */
  public Map<String, Long> stats() {
    confinement.enter();
    try {
      core.requireServer("stats");
      return calls.stats();
    } finally {
      confinement.leave();
    }
  }

  /**
   * Asks the server to clean the log: every region that holds dead objects. Returns the server's
   * figures once the server has noted the request; the cleaning is done when the figure {@code
   * cleaner.asked} is 0.
   *
   * @param head number of a head of the log, or −1 for all
   * @throws ErdaException.Unavailable when the server does not clean
   * @throws ErdaException.BadArgument when the store has no such head
   * @throws ErdaException.ReadOnly when the store takes no more puts and deletes
   */
  public Map<String, Long> clean(int head) {
    confinement.enter();
    try {
      core.requireServer("clean");
      return calls.clean(head);
    } finally {
      confinement.leave();
    }
  }

  /**
   * Hands the client over for a thread that owned it and will call nothing of it any more.
   *
   * @return false when that thread is in the middle of a call, which an Error has ended
   * @throws IllegalStateException when the client is closed
   */
  boolean release() {
    if (!confinement.release()) {
      return false;
    }
    handOver();
    return true;
  }

  /**
   * Ends this thread's ownership: the next thread that calls an operation becomes the owner. Closes
   * an open cursor. A pool calls this when a client is given back.
   *
   * @throws WrongThreadException when another thread owns the client
   */
  public void handOver() {
    confinement.enter();
    try {
      if (cursor != null) {
        cursor.close();
      }
    } finally {
      confinement.leave();
    }
    confinement.handOver();
  }

  /** Whether the client is closed, or is being closed. Any thread may call it. */
  boolean isClosed() {
    return confinement.isClosing();
  }

  /**
   * The counters of this client. In a thread that is not the owner they may be slightly out of
   * date.
   */
  public ClientStatistics statistics() {
    return core.context.counts().statistics();
  }

  /** Returns the promise of the store: which failures an acknowledged put or delete survives. */
  public Promise promise() {
    return welcome().promise();
  }

  /**
   * Returns the identity of the store. It stays the same when the server is restarted or the files
   * are moved.
   */
  public UUID storeId() {
    return welcome().store();
  }

  /** Returns the length of the longest key that the store takes, in bytes. */
  public int keyBytesMax() {
    return welcome().keyBytesMax();
  }

  /**
   * Returns the length of the longest value that the store takes, in bytes; this is with a key of
   * one byte. No get returns a longer value. See {@link #valueBytesMax(int)} for longer keys.
   */
  public int valueBytesMax() {
    return welcome().valueBytesMax();
  }

  /**
   * Returns the length in bytes of the longest value that the store takes with a key of {@code
   * keyBytes} bytes.
   *
   * @throws ErdaException.BadSize when the store takes no keys of that length
   */
  public int valueBytesMax(int keyBytes) {
    store.requireKey(keyBytes);
    return (int) store.valueBytesMax(keyBytes);
  }

  private Welcome welcome() {
    return store.welcome();
  }

  /**
   * Ends the connection and releases the client's resources. Any thread may call it, even while the
   * owner is in a call; that call ends at once. A put or delete that the server had claimed, or may
   * have claimed, throws {@link ErdaException.OutcomeUnknown}; any other operation throws {@link
   * IllegalStateException} and never takes effect. Resources are released only after that call has
   * ended. Idempotent; returns when the client is closed. Every later call throws {@link
   * IllegalStateException}.
   */
  @Override
  public void close() {
    confinement.close(core.context.device()::wakeup, this::end);
  }

  private void end() {
    try {
      core.close();
    } finally {
      if (owned != null) {
        owned.close();
        forgotten.closed();
      }
    }
  }
}
