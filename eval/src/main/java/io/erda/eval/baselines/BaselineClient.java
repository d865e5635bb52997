package io.erda.eval.baselines;

import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.pmem.Backing;
import io.erda.rdma.Access;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Device;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * A client of either baseline: a state machine that {@link #doWork()} advances, one operation at a
 * time. It connects by itself, and again after it lost its connection; then a get goes on, and so
 * does a put that had no effect. One thread; allocates nothing in the steady state. Borrows the
 * device.
 */
public final class BaselineClient implements AutoCloseable {
  /** Receives the ends of operations. It may submit the next operation. */
  public interface Events {
    /**
     * A get ended.
     *
     * @param memory where the value lies, valid during the call
     * @param length of the value, or -1: the key has none
     */
    void got(long token, MemorySegment memory, long offset, int length);

    void put(long token);

    void deleted(long token, boolean existed);

    /** The operation has no effect, now or ever. */
    void failed(long token, String why);

    /** The operation may have taken effect, or still may. */
    void unknown(long token, String why);
  }

  private static final int IDLE = 0;

  /** Waits for a connection; nothing of the operation was sent that has an effect. */
  private static final int WAITING = 1;

  private static final int ASKED = 2;
  private static final int RESERVING = 3;
  private static final int WRITING = 4;
  private static final int PERSISTING = 5;

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final long RECONNECT_NS = 1_000_000;
  private static final int POLLS = 8;
  private static final long WRITE_ID = 1;
  private static final long READ_ID = 2;
  private static final long SEND_ID = 3;
  private static final long RECEIVE_ID = 4;

  /**
   * The parts of the memory: the object's message, the small request, two responses, and the READ's
   * result.
   */
  private static final int SLOTS = 2;

  private static final long SMALL_AT = BaselineMessage.BYTES_MAX;
  private static final long READ_AT = SMALL_AT + 64;
  private static final long RESPONSES_AT = SMALL_AT + 128;
  private static final long MEMORY_BYTES = RESPONSES_AT + SLOTS * BaselineMessage.BYTES_MAX;

  private final BaselineKind kind;
  private final Device device;
  private final String address;
  private final LongSupplier nanoTime;
  private final long timeoutNs;
  private final Events events;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory = arena.allocate(MEMORY_BYTES, 64);
  private final MemoryRegion region;
  private final Work message = Work.send().id(SEND_ID);
  private final Work write = Work.write().id(WRITE_ID).signaled();
  private final Work read = Work.read().id(READ_ID).signaled();
  private final Work flush = Work.flush().id(READ_ID).signaled();
  private final ObjectChecksum checksum = new ObjectChecksum(memory);
  private final CompletionHandler handler = this::completed;
  private final int messageBytesMax;

  private QueuePair queuePair;
  private boolean connected;

  /** The connection must be closed at the end of the step. */
  private boolean broken;

  private long connectsAgainNs;

  // From the welcome.

  private long logKey;
  private long ringAt;
  private long ringBytes;
  private int objectBytesMax;
  private int persisting;

  // The operation under way.

  private int step = IDLE;
  private int type;
  private long token;
  private long requestId;
  private long deadlineNs;
  private int objectBytes;

  /** Checksum of the object at position mix 0. */
  private int crc;

  private long position;
  private int outstanding;

  /** Whether a message was sent, or a WRITE posted, that may take effect. */
  private boolean mayTakeEffect;

  private boolean closed;

  /**
   * @param timeoutNs the time-out of an operation
   */
  public BaselineClient(
      BaselineKind kind,
      Device device,
      String address,
      long timeoutNs,
      LongSupplier nanoTime,
      Events events) {
    this.kind = kind;
    this.device = device;
    this.address = address;
    this.timeoutNs = timeoutNs;
    this.nanoTime = nanoTime;
    this.events = events;
    this.region = device.register(memory, Backing.none(MEMORY_BYTES), Access.LOCAL);
    this.messageBytesMax = Math.min(BaselineMessage.BYTES_MAX, device.messageBytesMax());
  }

  // Operations.

  /** Submits a get; false when there is an operation under way. */
  public boolean get(long operation, MemorySegment key) {
    return begin(operation, BaselineMessage.GET, key, null);
  }

  /** Submits a put; false when there is an operation under way. Key and value are copied. */
  public boolean put(long operation, MemorySegment key, MemorySegment value) {
    return begin(operation, BaselineMessage.PUT, key, value);
  }

  /** Submits a delete; false when there is an operation under way. */
  public boolean delete(long operation, MemorySegment key) {
    return begin(operation, BaselineMessage.DELETE, key, null);
  }

  private boolean begin(long operation, int what, MemorySegment key, MemorySegment value) {
    if (closed) {
      throw new IllegalStateException("the client is closed");
    }
    if (step != IDLE) {
      return false;
    }
    int keyLength = Math.toIntExact(key.byteSize());
    int valueLength = value == null ? 0 : Math.toIntExact(value.byteSize());
    int bytes = ObjectLayout.bytes(keyLength, valueLength);
    if (BaselineMessage.OBJECT_AT + bytes > messageBytesMax) {
      throw new IllegalArgumentException(
          bytes + " bytes; at most " + (messageBytesMax - BaselineMessage.OBJECT_AT));
    }
    writeObject(what, key, keyLength, value, valueLength);
    objectBytes = bytes;
    token = operation;
    type = what;
    deadlineNs = nanoTime.getAsLong() + timeoutNs;
    mayTakeEffect = false;
    step = WAITING;
    if (connected) {
      start();
    }
    return true;
  }

  /**
   * Builds the object. The server computes the checksum unless the client WRITEs the object itself.
   */
  private void writeObject(
      int what, MemorySegment key, int keyLength, MemorySegment value, int valueLength) {
    long at = BaselineMessage.OBJECT_AT;
    ObjectLayout.putHeader(memory, at, keyLength, valueLength, what == BaselineMessage.DELETE);
    MemorySegment.copy(key, 0, memory, at + ObjectLayout.KEY_OFFSET, keyLength);
    if (valueLength > 0) {
      MemorySegment.copy(value, 0, memory, at + ObjectLayout.KEY_OFFSET + keyLength, valueLength);
    }
  }

  private void start() {
    if (objectBytes > objectBytesMax) {
      failed(objectBytes + " bytes; the store takes at most " + objectBytesMax);
      return;
    }
    if (type == BaselineMessage.PUT && kind == BaselineKind.READ_AFTER_WRITE) {
      BaselineMessage.putLong(memory, SMALL_AT + 16, objectBytes);
      send(BaselineMessage.RESERVE, SMALL_AT, BaselineMessage.RESERVE_BYTES, RESERVING);
      crc = checksum.compute(BaselineMessage.OBJECT_AT, objectBytes, 0);
    } else {
      mayTakeEffect = type != BaselineMessage.GET;
      send(type, 0, BaselineMessage.OBJECT_AT + objectBytes, ASKED);
    }
  }

  private void send(int type, long at, int bytes, int next) {
    BaselineMessage.putHeader(memory, at, type, 0, ++requestId);
    step = next;
    require(queuePair.post(message.local(region, at, bytes)));
  }

  /**
   * Requires that a message could be posted: one at a time always fits, otherwise the connection
   * has failed.
   */
  private void require(boolean posted) {
    broken |= !posted;
  }

  // Progress.

  /** Takes one step. Returns 0 when there was nothing to do. */
  public int doWork() {
    int work = 0;
    if (queuePair != null) {
      work += queuePair.poll(handler, POLLS);
      if (broken) {
        disconnect("the connection was lost");
        work++;
      }
    }
    if (step != IDLE || queuePair == null) {
      long nowNs = nanoTime.getAsLong();
      if (step != IDLE && nowNs >= deadlineNs) {
        timedOut();
        work++;
      } else if (queuePair == null && !closed && nowNs >= connectsAgainNs) {
        connect();
        work++;
      }
    }
    return work;
  }

  private void connect() {
    MemorySegment hello = MemorySegment.ofArray(new byte[BaselineMessage.HELLO_BYTES]);
    BaselineMessage.putLong(hello, 0, BaselineMessage.MAGIC);
    BaselineMessage.putLong(hello, 8, kind.ordinal());
    broken = false;
    queuePair = device.connect(address, hello, CONNECT_TIMEOUT);
    for (int slot = 0; slot < SLOTS; slot++) {
      postReceive(slot);
    }
  }

  private void postReceive(int slot) {
    require(queuePair.postReceive(RECEIVE_ID + slot, region, responseAt(slot), messageBytesMax));
  }

  private static long responseAt(int slot) {
    return RESPONSES_AT + (long) slot * BaselineMessage.BYTES_MAX;
  }

  /** Ends the connection. The operation under way goes on over the next one, or ends as unknown. */
  private void disconnect(String why) {
    queuePair.close();
    queuePair = null;
    connected = false;
    broken = false;
    outstanding = 0;
    connectsAgainNs = nanoTime.getAsLong() + RECONNECT_NS;
    if (step == IDLE || step == WAITING) {
      return;
    }
    if (mayTakeEffect) {
      unknown(why);
    } else {
      step = WAITING;
    }
  }

  private void timedOut() {
    String why = "no answer within " + timeoutNs / 1_000_000 + " ms";
    if (step == WAITING) {
      failed(why);
      return;
    }
    // The answer may still come, and must not be taken for the next operation's.
    boolean effect = mayTakeEffect;
    step = WAITING;
    disconnect(why);
    if (effect) {
      unknown(why);
    } else {
      failed(why);
    }
  }

  /** Whether there is a connection. */
  public boolean isConnected() {
    return connected;
  }

  private void completed(long wrId, int opcode, int status, int byteLength, int imm) {
    if (broken) {
      return;
    }
    if (status != Status.SUCCESS || opcode == Opcode.DISCONNECT) {
      broken = true;
    } else if (opcode == Opcode.CONNECT) {
      welcomed();
    } else if (opcode == Opcode.RECEIVE) {
      int slot = (int) (wrId - RECEIVE_ID);
      answered(responseAt(slot), byteLength, slot);
    } else if (opcode == Opcode.WRITE || opcode == Opcode.READ || opcode == Opcode.FLUSH) {
      if (--outstanding == 0) {
        written();
      }
    } else {
      throw new IllegalStateException("nobody posted work of opcode " + opcode);
    }
  }

  private void welcomed() {
    MemorySegment welcome = queuePair.privateData();
    if (welcome.byteSize() != BaselineMessage.WELCOME_BYTES
        || BaselineMessage.getLong(welcome, 0) != BaselineMessage.MAGIC) {
      broken = true;
      return;
    }
    logKey = BaselineMessage.getLong(welcome, 8);
    ringAt = BaselineMessage.getLong(welcome, 16);
    ringBytes = BaselineMessage.getLong(welcome, 24);
    objectBytesMax = BaselineMessage.getInt(welcome, 32);
    persisting = BaselineMessage.getInt(welcome, 36);
    connected = true;
    if (step == WAITING) {
      start();
    }
  }

  private void answered(long at, int bytes, int slot) {
    if (bytes < BaselineMessage.HEADER_BYTES || BaselineMessage.id(memory, at) != requestId) {
      broken = true;
      return;
    }
    // Posted before the next request is sent; the received message stays until the following one.
    postReceive(slot);
    int result = BaselineMessage.result(memory, at);
    switch (step) {
      case RESERVING -> reserved(at, bytes, result);
      case PERSISTING -> persisted(result);
      case ASKED -> ended(at, bytes, result);
      default -> broken = true;
    }
  }

  private void ended(long at, int bytes, int result) {
    switch (result) {
      case BaselineMessage.OK, BaselineMessage.ABSENT -> {
        step = IDLE;
        boolean ok = result == BaselineMessage.OK;
        switch (type) {
          case BaselineMessage.GET ->
              events.got(
                  token,
                  memory,
                  at + BaselineMessage.HEADER_BYTES,
                  ok ? bytes - BaselineMessage.HEADER_BYTES : -1);
          case BaselineMessage.PUT -> events.put(token);
          default -> events.deleted(token, ok);
        }
      }
      case BaselineMessage.FULL -> failed("the store is full");
      default -> failed("the server refuses the request: " + result);
    }
  }

  // Read After Write.

  private void reserved(long at, int bytes, int result) {
    if (result != BaselineMessage.OK || bytes != BaselineMessage.RESERVED_BYTES) {
      failed(result == BaselineMessage.FULL ? "the store is full" : "refused: " + result);
      return;
    }
    position = BaselineMessage.getLong(memory, at + 16);
    long writeKey = BaselineMessage.getLong(memory, at + 24);
    long object = BaselineMessage.OBJECT_AT;
    BaselineMessage.putLong(memory, object - RedoLog.POSITION_BYTES, position);
    ObjectLayout.putChecksum(memory, object, crc ^ RedoLog.positionMix(position));
    long record = ringAt + Long.remainderUnsigned(position, ringBytes);
    int length = RedoLog.POSITION_BYTES + objectBytes;
    step = WRITING;
    mayTakeEffect = true;
    outstanding = 2;
    require(
        queuePair.post(
            write.local(region, object - RedoLog.POSITION_BYTES, length).remote(writeKey, record)));
    if (persisting != BaselineMessage.BY_FLUSH) {
      require(
          queuePair.post(
              read.local(region, READ_AT, Long.BYTES)
                  .remote(logKey, record + length - Long.BYTES)));
    } else {
      require(queuePair.post(flush.remote(logKey, record, length)));
    }
  }

  /**
   * Notes that the record is in the server's memory, and makes it durable by a message if
   * necessary.
   */
  private void written() {
    if (step != WRITING) {
      broken = true;
    } else if (persisting != BaselineMessage.BY_MESSAGE) {
      step = IDLE;
      events.put(token);
    } else {
      BaselineMessage.putLong(memory, SMALL_AT + 16, position);
      send(BaselineMessage.PERSIST, SMALL_AT, BaselineMessage.PERSIST_BYTES, PERSISTING);
    }
  }

  private void persisted(int result) {
    if (result == BaselineMessage.OK) {
      step = IDLE;
      events.put(token);
    } else {
      unknown("the server did not find the record");
    }
  }

  // The end.

  private void failed(String why) {
    step = IDLE;
    events.failed(token, why);
  }

  private void unknown(String why) {
    step = IDLE;
    events.unknown(token, why);
  }

  /** Ends the connection. The end of the operation under way is passed on first. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (queuePair != null) {
      disconnect("the client was closed");
    }
    if (step == WAITING) {
      failed("the client was closed");
    }
    device.deregister(region);
    arena.close();
  }

  QueuePair queuePair() {
    return queuePair;
  }
}
