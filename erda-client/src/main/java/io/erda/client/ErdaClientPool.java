package io.erda.client;

import io.erda.client.connections.Devices;
import io.erda.client.shared.PoolKeys;
import io.erda.client.shared.PoolSlots;
import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Clients of one store for any number of threads: a bounded number of connections, each lent to one
 * thread at a time. Any thread may call any method.
 *
 * <p><b>Which client.</b> A thread gets the client that it had last, if that is free; otherwise
 * another free client; otherwise a new connection, while there are fewer than {@link
 * #clientsMax()}. So the pool makes no more connections than threads are in calls at the same time.
 * When all clients are lent, a borrower waits, at most for the borrow time-out. A borrower that has
 * waited for a millisecond is served before all later ones.
 *
 * <p><b>Connections that fail.</b> A client connects anew by itself when its server was restarted.
 * A client that was closed, or that threw an {@link Error}, is replaced when it is borrowed next.
 * When the server has no room for another connection, the pool lends only its present clients for a
 * second, and then tries again. If it has no clients the borrower gets {@link ErdaException.Full}.
 * All clients are clients of the same store: when a server has another store, {@link
 * ErdaException.Refused} is thrown.
 *
 * <p><b>Operations</b> of the pool itself borrow a client for the call; they have the results and
 * exceptions of {@link ErdaClient}, and also throw the exceptions of {@link #borrow()}. An
 * interrupt ends no call, and the interrupt status stays set.
 *
 * <p><b>Closing.</b> {@link #close()} closes every client, also those that are lent; calls under
 * way end as {@link ErdaClient#close()} describes. Waiting borrowers get {@link
 * IllegalStateException}.
 */
public final class ErdaClientPool implements AutoCloseable {
  /** How long a borrower waits by default. */
  public static final Duration BORROW_TIMEOUT = Duration.ofSeconds(10);

  /** Whether a {@link Lent} was given back. */
  private static final VarHandle GIVEN_BACK;

  static {
    try {
      GIVEN_BACK = MethodHandles.lookup().findVarHandle(Lent.class, "givenBack", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private static final Duration TIMEOUT_MAX = Duration.ofNanos(Long.MAX_VALUE);

  private final Supplier<ErdaClient> connect;
  private final PoolSlots slots;

  /** The identity of the store; null before the first connection. */
  private final AtomicReference<UUID> store = new AtomicReference<>();

  /**
   * Makes a pool; connects to nothing yet.
   *
   * @param connect makes a connection, for example {@code () -> ErdaClient.connect(uri, options)},
   *     or {@code embedded::client}; called by the threads that borrow, several at a time; never
   *     returns null
   * @param clientsMax how many clients there are at most
   * @param borrowTimeout how long a borrower waits when all clients are lent
   * @throws ErdaException.BadArgument when a number is out of its range
   */
  public ErdaClientPool(Supplier<ErdaClient> connect, int clientsMax, Duration borrowTimeout) {
    this.connect = Objects.requireNonNull(connect, "connect");
    if (clientsMax < 1
        || borrowTimeout == null
        || borrowTimeout.isNegative()
        || borrowTimeout.compareTo(TIMEOUT_MAX) > 0) {
      throw new ErdaException.BadArgument(
          "a pool of "
              + clientsMax
              + " clients, borrow timeout "
              + borrowTimeout
              + "; expected 1 client or more, and a time of zero or more, at most 292 years");
    }
    slots =
        new PoolSlots(
            clientsMax,
            borrowTimeout.toNanos(),
            Devices.CLOCK,
            client -> !client.isClosed(),
            ErdaClient::release);
    // The JVM links a call of a VarHandle when it is first made, for which it needs far more of the
    // stack than for the call. A client that is given back near the end of a stack must not be the
    // first.
    new Lent(this).close();
  }

  /**
   * Makes a pool of clients of a URI; connects to nothing yet.
   *
   * @throws ErdaException.BadArgument when the URI can't be parsed
   */
  public static ErdaClientPool of(String uri, int clientsMax) {
    ErdaUri parsed = ErdaUri.parse(uri);
    return new ErdaClientPool(
        () -> ErdaClient.connect(parsed, ClientOptions.DEFAULT), clientsMax, BORROW_TIMEOUT);
  }

  // Lending.

  /**
   * A client that is lent to the thread that borrowed it, until {@link #close()}. The client must
   * not be used after that.
   */
  public static final class Lent implements AutoCloseable {
    private final ErdaClientPool pool;
    private ErdaClient client;

    /** The slot that was taken; null before that. */
    private PoolSlots.Slot slot;

    @SuppressWarnings("unused") // through GIVEN_BACK
    private volatile boolean givenBack;

    private Lent(ErdaClientPool pool) {
      this.pool = pool;
    }

    /**
     * Takes a slot. Nothing is allocated or called behind that, so that no error loses the slot.
     */
    private Lent take() {
      PoolSlots.Slot taken = pool.take();
      client = taken.client;
      slot = taken;
      return this;
    }

    /**
     * Returns the client.
     *
     * @throws IllegalStateException when the client was given back
     */
    public ErdaClient client() {
      if (givenBack) {
        throw new IllegalStateException("the client was given back");
      }
      return client;
    }

    /**
     * Gives the client back. Idempotent. When a thread that is not the client's owner calls this,
     * the client is closed, and a call under way ends as {@link ErdaClient#close()} describes.
     */
    @Override
    public void close() {
      // Nothing is called between the swap and the mark, so that no error loses the slot.
      if (GIVEN_BACK.compareAndSet(this, false, true) && slot != null) {
        int ticket = slot.ticket;
        slot.left = ticket;
        pool.giveBack(slot, ticket);
      }
    }
  }

  /**
   * Borrows a client. The borrower must give it back. A thread should not borrow a second client
   * while it holds one: it may wait for the client that it holds itself, until the time-out.
   *
   * @throws ErdaException.Unavailable when no client was free in time, or no connection can be made
   * @throws ErdaException.Full when the server has no room for a first connection
   * @throws ErdaException.Refused when the server has another store than before
   * @throws IllegalStateException when the pool is closed
   */
  public Lent borrow() {
    return new Lent(this).take();
  }

  /**
   * Calls a function with a client that is lent for the call. Passes on the exceptions of the
   * function and of {@link #borrow}.
   */
  public <T> T with(Function<ErdaClient, T> call) {
    PoolSlots.Slot slot = take();
    try {
      return call.apply(slot.client);
    } catch (RuntimeException | Error e) {
      discardIfBroken(slot, e);
      throw e;
    } finally {
      int ticket = slot.ticket;
      slot.left = ticket;
      giveBack(slot, ticket);
    }
  }

  /** Takes a slot whose client is open. */
  private PoolSlots.Slot take() {
    for (long beganNs = PoolSlots.NOW; ; beganNs = slots.began(beganNs)) {
      PoolSlots.Slot slot = slots.take(beganNs);
      boolean open = false;
      try {
        open = isUsable(slot) || open(slot);
        if (open) {
          return slot;
        }
      } finally {
        if (!open) {
          int ticket = slot.ticket;
          slot.left = ticket;
          slots.giveBack(slot, ticket);
        }
      }
    }
  }

  private static boolean isUsable(PoolSlots.Slot slot) {
    ErdaClient client = slot.client;
    return client != null && !client.isClosed() && !slot.broken && !client.isLeftInTheMiddle();
  }

  /**
   * Connects, for a slot that was taken. Closes the client that it had.
   *
   * @return false when the server has no room, and the pool lends only the clients that it has
   */
  private boolean open(PoolSlots.Slot slot) {
    ErdaClient old = slot.client;
    slot.client = null;
    slot.broken = false;
    if (old != null) {
      old.close();
    }
    slots.requireOpen();
    ErdaClient client;
    try {
      client =
          Objects.requireNonNull(connect.get(), "the pool's supplier of clients returned null");
    } catch (ErdaException.Full full) {
      if (slots.makeDo(slot)) {
        return false;
      }
      throw full;
    }
    UUID found = client.storeId();
    if (!store.compareAndSet(null, found) && !store.get().equals(found)) {
      client.close();
      throw new ErdaException.Refused(
          "store " + found + " is there now; this pool is of store " + store.get());
    }
    slot.client = client;
    if (slots.isClosed()) {
      // A thread that is closing the pool may have checked this slot before the slot had a client.
      client.close();
      throw PoolSlots.closed();
    }
    return true;
  }

  /**
   * Gives a slot back; a client that can't be handed over is closed, and replaced later. REQUIRES:
   * the caller has marked the slot as left by its ticket, just before this call.
   */
  private void giveBack(PoolSlots.Slot slot, int ticket) {
    // Without the mark no other thread takes the slot over, however long this one is stopped.
    if (!slot.unmark(ticket)) {
      return;
    }
    ErdaClient client = slot.client;
    try {
      if (client != null) {
        client.handOver();
      }
    } catch (RuntimeException e) {
      // The client is closed, or another thread uses it and its call ends now. Closing it may
      // block.
      slot.client = null;
      client.close();
    } finally {
      slot.left = ticket;
      slots.giveBack(slot, ticket);
    }
  }

  /**
   * Closes the client of a slot when its state is unknown, because this call ended with an Error,
   * or an earlier call ended so and interrupted an operation. The slot's next user connects anew,
   * and closes the client where this call could not.
   */
  private static void discardIfBroken(PoolSlots.Slot slot, Throwable thrown) {
    if (!(thrown instanceof Error) && !slot.client.isLeftInTheMiddle()) {
      return;
    }
    slot.broken = true;
    try {
      slot.client.close();
      slot.client = null;
    } catch (RuntimeException | Error e) {
      // The JVM may throw one and the same error when the heap is exhausted.
      if (e != thrown) {
        thrown.addSuppressed(e);
      }
    }
  }

  // Operations.

  /** The value of a key, or null when it has none. */
  public byte[] get(byte[] key) {
    PoolSlots.Slot slot = take();
    try {
      return slot.client.get(key);
    } catch (RuntimeException | Error e) {
      discardIfBroken(slot, e);
      throw e;
    } finally {
      int ticket = slot.ticket;
      slot.left = ticket;
      giveBack(slot, ticket);
    }
  }

  /** See {@link ErdaClient#get(MemorySegment, MemorySegment)}. */
  public long get(MemorySegment key, MemorySegment into) {
    PoolSlots.Slot slot = take();
    try {
      return slot.client.get(key, into);
    } catch (RuntimeException | Error e) {
      discardIfBroken(slot, e);
      throw e;
    } finally {
      int ticket = slot.ticket;
      slot.left = ticket;
      giveBack(slot, ticket);
    }
  }

  /** The values of several keys: see {@link ErdaClient#getAll(List)}. */
  public List<byte[]> getAll(List<byte[]> keys) {
    return with(client -> client.getAll(keys));
  }

  /** Stores a value. Returns when it has the promise of the store. */
  public void put(byte[] key, byte[] value) {
    put(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
  }

  /** Stores a value. Returns when it has the promise of the store. */
  public void put(MemorySegment key, MemorySegment value) {
    PoolSlots.Slot slot = take();
    try {
      slot.client.put(key, value);
    } catch (RuntimeException | Error e) {
      discardIfBroken(slot, e);
      throw e;
    } finally {
      int ticket = slot.ticket;
      slot.left = ticket;
      giveBack(slot, ticket);
    }
  }

  /** Stores several values: see {@link ErdaClient#putAll(List, List)}. */
  public void putAll(List<byte[]> keys, List<byte[]> values) {
    with(client -> {
      client.putAll(keys, values);
      return null;
    });
  }

  /** Stores a value if the key has none: see {@link ErdaClient#putIfAbsent(byte[], byte[])}. */
  public boolean putIfAbsent(byte[] key, byte[] value) {
    return with(client -> client.putIfAbsent(key, value));
  }

  /** See {@link ErdaClient#compareAndSet(byte[], byte[], byte[])}. */
  public boolean compareAndSet(byte[] key, byte[] expected, byte[] value) {
    return with(client -> client.compareAndSet(key, expected, value));
  }

  /** See {@link ErdaClient#compareAndDelete(byte[], byte[])}. */
  public boolean compareAndDelete(byte[] key, byte[] expected) {
    return with(client -> client.compareAndDelete(key, expected));
  }

  /** Removes a key and its value. Returns whether it had one. */
  public boolean delete(byte[] key) {
    return delete(MemorySegment.ofArray(key));
  }

  /** Removes a key and its value. Returns whether it had one. */
  public boolean delete(MemorySegment key) {
    PoolSlots.Slot slot = take();
    try {
      return slot.client.delete(key);
    } catch (RuntimeException | Error e) {
      discardIfBroken(slot, e);
      throw e;
    } finally {
      int ticket = slot.ticket;
      slot.left = ticket;
      giveBack(slot, ticket);
    }
  }

  /** Removes several keys: see {@link ErdaClient#deleteAll(List)}. */
  public boolean[] deleteAll(List<byte[]> keys) {
    return with(client -> client.deleteAll(keys));
  }

  /**
   * Returns an iterator over the keys of the store. It returns a key that has a value from before
   * the iteration begins until after it has ended exactly once, and any other key at most once; see
   * {@link KeyCursor}. The iterator borrows a client for some thousand keys at a time, and gives it
   * back before it returns these keys; so an iteration may be abandoned. The iterator may be used
   * by one thread at a time.
   *
   * <p>Both methods of the iterator throw the exceptions of {@link KeyCursor#next()} and {@link
   * #borrow()}. After an exception they may be called again, and go on where they stopped.
   */
  public Iterator<byte[]> keys() {
    return new PoolKeys(
        (order, keys, damaged) -> with(client -> client.nextStretch(order, keys, damaged)));
  }

  // The pool.

  /** How many clients there are at most. */
  public int clientsMax() {
    return slots.count();
  }

  /** The identity of the store; null before the first connection. */
  UUID storeId() {
    return store.get();
  }

  /** Returns the number of clients that are connected, or were when they were last used. */
  public int clients() {
    return slots.open();
  }

  /**
   * Closes every client and the pool. Idempotent. Returns when all clients are closed, except when
   * it is called within a call of one of the clients.
   */
  @Override
  public void close() {
    slots.close();
  }
}
