package io.erda.client.puts;

import io.erda.client.OperationHandler;
import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Connections;
import io.erda.client.connections.Counts;
import io.erda.client.connections.KnownStore;
import io.erda.client.connections.RegisteredMemory;
import io.erda.client.connections.Session;
import io.erda.client.operations.KeyText;
import io.erda.client.operations.Operation;
import io.erda.hashtable.Entry;
import io.erda.hashtable.ValueHash;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.ObjectWriter;
import io.erda.pmem.MemoryGuard;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Root;
import io.erda.rdma.MemoryRegion;
import java.lang.foreign.MemorySegment;

/**
 * A put or a delete, whatever the protocol: the object, built once in memory of its own, and the
 * order among puts of one client. How the object becomes the newest version is its subclass.
 */
public abstract class Put extends Operation {
  /** It waits for an earlier put of the same key. */
  protected static final int WAIT_TURN = OWN_STEPS;

  /** It waits for space to write to. */
  public static final int WAIT_LEASE = OWN_STEPS + 1;

  /** The steps of the kinds of put begin here. */
  protected static final int PUT_STEPS = OWN_STEPS + 2;

  /** Where the object lies in its memory. */
  protected static final int OBJECT = 0;

  protected static final long NO_PLACE = Long.MAX_VALUE;

  private static final int CAPACITY_MIN = 4096;

  private final MemoryGuard faults = new MemoryGuard();
  private final ValueHash valueHash = new ValueHash();
  private final PutOrder turns;
  private RegisteredMemory own;
  private ObjectWriter writer;
  private int capacity;

  /** The memory of the object, null before the first one. */
  protected MemorySegment memory;

  protected MemoryRegion region;

  protected boolean delete;

  /** For which values of the key it is done: 0 for all, or one of {@link Message}'s flags. */
  protected int condition;

  /** The length of the value that the key has to have, if it has to have one. */
  protected int expectedLength;

  /** The hash of that value. */
  protected long expectedLow;

  protected long expectedHigh;

  /** Whether the condition did not hold, so that nothing was done. */
  public boolean conflict;

  /** Whether the key of a delete had a value. */
  public boolean existed;

  /** Grows with every submission of the client. */
  protected long order;

  /** Grows with every place that is taken; {@link #NO_PLACE} before one is. */
  protected long placeOrder;

  protected int head;

  /** Bytes of the object, with padding. */
  protected int padded;

  /** Bytes of the object, without padding. */
  protected int bytes;

  protected int keyLength;

  /** The checksum of the object, before the position is mixed in. */
  protected int crc;

  private int valueLength;
  private long keyWord;

  protected Put(
      ClientContext context, Connections connections, Listener listener, PutOrder turns, int slot) {
    super(context, connections, listener, slot);
    this.turns = turns;
  }

  /** Goes on, with {@link #session} and {@link #head} known: takes space for the object. */
  protected abstract void takePlace();

  /** A READ of this operation completed. */
  public abstract void onRead(long ofSerial);

  /** A READ of this operation failed. */
  public abstract void onReadFailed(long ofSerial, int status);

  /** The server has no room for the object. */
  protected abstract void onNoRoom(int result);

  /** Whether the object has a place in the log and could not be posted yet. */
  protected abstract boolean isUnposted();

  /** A WRITE of this operation failed. */
  public abstract void onWriteFailed(long ofSerial, int status);

  /**
   * Builds the object. REQUIRES: the lengths are in range. {@code value} is null for a delete.
   *
   * @throws InternalError when memory of the caller's is not there
   */
  public final void build(MemorySegment key, MemorySegment value) {
    keyLength = (int) key.byteSize();
    valueLength = value == null ? 0 : (int) value.byteSize();
    delete = value == null;
    condition = 0;
    bytes = ObjectLayout.bytes(keyLength, valueLength);
    ensureCapacity(ObjectLayout.padded(bytes));
    // A position mix of 0: the checksum of a position is this one xor its mix (ObjectLayout), and
    // the position is not known yet.
    padded = writer.write(OBJECT, key, 0, keyLength, value, 0, valueLength, delete, 0);
    crc = ObjectLayout.checksum(memory, OBJECT);
    // Key and value may be mapped from a file of the caller's.
    faults.surface();
  }

  /** It is done only where the key has no value. To be called behind {@link #build}. */
  public final void onlyIfAbsent() {
    condition = Message.FLAG_IF_ABSENT;
  }

  /** It is done only where the key has this value. To be called behind {@link #build}. */
  public final void onlyIfEqual(MemorySegment expected) {
    condition = Message.FLAG_IF_EQUAL;
    expectedLength = Math.toIntExact(expected.byteSize());
    valueHash.compute(expected, 0, expectedLength);
    expectedLow = valueHash.low();
    expectedHigh = valueHash.high();
    faults.surface();
  }

  /** Its condition does not hold, as is known without the server. In the place of {@code begin}. */
  public final void conflictAtOnce() {
    condition = Message.FLAG_IF_EQUAL;
    conflict = true;
  }

  public void begin() {
    open();
    conflict = false;
    order = turns.next();
    keyWord = 0;
    needsServer = true;
    restart();
  }

  @Override
  public boolean hasSession() {
    return connections.serverSession() != null;
  }

  @Override
  public final void restart() {
    Session usable = connections.serverSession();
    if (usable == null) {
      awaitSession();
      return;
    }
    ErdaException unfit = context.store().unfit(keyLength, valueLength);
    if (unfit != null) {
      fail(unfit);
      return;
    }
    session = usable;
    head = Entry.headOf(keyWord());
    if (turns.hasEarlier(this)) {
      step = WAIT_TURN;
      session = null;
      return;
    }
    takePlace();
  }

  /** REQUIRES: the client was connected once, so the hash is known. */
  protected final long keyWord() {
    if (keyWord == 0) {
      KnownStore store = context.store();
      keyWord =
          Entry.keyWord(
              store.keyHash.of(memory, OBJECT + ObjectLayout.KEY_OFFSET, keyLength), store.heads);
    }
    return keyWord;
  }

  /** Whether {@code other} has a place in the same log before this one's and was not posted yet. */
  protected final boolean follows(Put other) {
    return other.stalled
        && other.isUnposted()
        && other.placeOrder < placeOrder
        && other.head == head
        && other.session == session;
  }

  @Override
  protected final void onEnded() {
    if (error == null && !conflict) {
      Counts counts = context.counts();
      counts.puts += delete ? 0 : 1;
      counts.deletes += delete ? 1 : 0;
    }
    turns.giveTurn();
  }

  @Override
  public final String describe() {
    return (condition == 0 ? "" : "conditional ")
        + (delete ? "delete of " : "put of ")
        + KeyText.of(memory, OBJECT + ObjectLayout.KEY_OFFSET, keyLength);
  }

  @Override
  protected final void deliver(OperationHandler handler) {
    if (condition != 0) {
      handler.onConditional(token, !conflict);
    } else if (delete) {
      handler.onDelete(token, existed);
    } else {
      handler.onPut(token);
    }
  }

  /**
   * Where there is room in {@link #memory} for a copy of the root, which no object overlaps: a READ
   * into it may still land when the next object is being built.
   */
  protected final long rootAt() {
    return capacity;
  }

  /** REQUIRES: nothing of this slot is outstanding. */
  private void ensureCapacity(int needed) {
    if (needed <= capacity) {
      return;
    }
    release();
    int larger = Math.max(CAPACITY_MIN, Integer.highestOneBit(needed - 1) << 1);
    own = new RegisteredMemory(context.device(), larger + Root.BYTES);
    memory = own.segment;
    region = own.region;
    writer = new ObjectWriter(memory);
    // Last: an Error on the way here, a full heap for example, leaves no buffer that is half made.
    capacity = larger;
  }

  /** REQUIRES: the queue pair is closed, or nothing of this slot is outstanding. */
  protected final void release() {
    if (own != null) {
      own.release();
      own = null;
      memory = null;
      capacity = 0;
    }
  }
}
