package io.erda.client;

import io.erda.hashtable.Entry;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.ObjectWriter;
import io.erda.pmem.FaultPoint;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.rdma.Flags;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Status;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A put or a delete, publish last (design, "Reading and writing"): the object is WRITTEN into
 * leased space, PUBLISH is SENT behind it, and the server's response ends it. One round trip while
 * the lease lasts.
 *
 * <p>A delete for which the log has no room asks the server to empty the entry instead (ERASE).
 *
 * <p>Nothing is replayed once a publish was posted: if the connection ends then, the outcome is
 * unknown. A publish that the server refused had no effect, so it may be done again elsewhere. Puts
 * of the same key by one client happen in the order of submission: the later one waits.
 */
final class Put extends Operation {
  /** For an earlier put of the same key. */
  static final int WAIT_TURN = OWN_STEPS;

  static final int WAIT_LEASE = OWN_STEPS + 1;
  private static final int POST_WRITE = OWN_STEPS + 2;
  private static final int POST_PUBLISH = OWN_STEPS + 3;
  private static final int PUBLISHED = OWN_STEPS + 4;
  private static final int POST_ERASE = OWN_STEPS + 5;
  private static final int ERASING = OWN_STEPS + 6;

  /** For puts that have a place in the same lease and could not be posted yet. */
  private static final int WAIT_PLACE = OWN_STEPS + 7;

  private static final long NO_PLACE = Long.MAX_VALUE;

  private static final int OBJECT = 0;
  private static final int CAPACITY_MIN = 4096;
  private static final int REWRITES_MAX = 8;
  private static final int INVALID_MAX = 1;

  private final FaultPoint faults = new FaultPoint();
  private MemoryRegion region;
  private MemorySegment memory;
  private ObjectWriter writer;
  private int capacity;

  boolean delete;

  /** Of a delete: whether the key had a value. */
  boolean existed;

  /** Grows with every submission of the client. */
  long order;

  int head;

  /** Of the object, with padding. */
  int padded;

  private long keyWord;
  private int keyLength;
  private int valueLength;
  private int bytes;

  /** Of the object, before the position is mixed in. */
  private int crc;

  private long serial;

  /** Grows with every place that is taken; {@link #NO_PLACE} before one is. */
  private long placeOrder;

  private long reservation;
  private int offset;
  private long remoteKey;
  private long place;
  private int rewrites;
  private int invalid;

  /** Why a WRITE of this operation could not be begun; SUCCESS when none was refused. */
  private int writeRefused;

  Put(ClientCore core, int slot) {
    super(core, slot);
  }

  /**
   * Builds the object. REQUIRES: the lengths are in range. {@code value} is null for a delete.
   *
   * @throws InternalError when memory of the caller's is not there
   */
  void build(MemorySegment key, MemorySegment value) {
    keyLength = (int) key.byteSize();
    valueLength = value == null ? 0 : (int) value.byteSize();
    delete = value == null;
    bytes = ObjectLayout.bytes(keyLength, valueLength);
    ensureCapacity(ObjectLayout.padded(bytes));
    // A position mix of 0: the checksum of a position is this one xor its mix (ObjectLayout), and
    // the position is not known yet.
    padded = writer.write(OBJECT, key, 0, keyLength, value, 0, valueLength, delete, 0);
    crc = ObjectLayout.checksum(memory, OBJECT);
    // Key and value may be mapped from a file of the caller's.
    faults.surface();
  }

  void begin() {
    open();
    order = core.nextOrder();
    keyWord = 0;
    rewrites = 0;
    invalid = 0;
    writeRefused = Status.SUCCESS;
    needsServer = true;
    restart();
  }

  @Override
  void restart() {
    Session usable = core.readSession(true);
    if (usable == null) {
      awaitSession();
      return;
    }
    ErdaException unfit = core.unfit(keyLength, valueLength);
    if (unfit != null) {
      fail(unfit);
      return;
    }
    session = usable;
    head = Entry.headOf(keyWord());
    if (core.hasEarlier(this)) {
      step = WAIT_TURN;
      session = null;
      return;
    }
    takePlace();
  }

  /** REQUIRES: the client was connected once, so the hash is known. */
  long keyWord() {
    if (keyWord == 0) {
      keyWord =
          Entry.keyWord(
              core.keyHash.of(memory, OBJECT + ObjectLayout.KEY_OFFSET, keyLength), core.heads);
    }
    return keyWord;
  }

  /**
   * Takes space of the lease, or waits for one. Places of a lease are published in their order,
   * because the server takes none below one that was published: a put that came later waits for one
   * that has its place and could not be posted.
   */
  void takePlace() {
    placeOrder = NO_PLACE;
    if (core.hasUnposted(this)) {
      step = WAIT_PLACE;
      stall();
      return;
    }
    Leases leases = session.leases;
    Lease lease = leases.fitting(head, padded);
    if (lease == null) {
      step = WAIT_LEASE;
      leases.request(head, padded);
      return;
    }
    place = lease.take(padded);
    placeOrder = core.nextOrder();
    reservation = lease.reservation;
    remoteKey = lease.remoteKey;
    offset = (int) (((long) lease.regionIndex << session.regionShift) + place >>> 3);
    ObjectLayout.putChecksum(
        memory, OBJECT, crc ^ ObjectChecksum.positionMix(head, lease.generation, offset));
    serial++;
    step = POST_WRITE;
    post();
  }

  private void post() {
    if (step == POST_WRITE) {
      if (!session.queuePair.postWrite(
          Session.workId(serial, slot), region, OBJECT, remoteKey, place, padded, Flags.NONE)) {
        stall();
        return;
      }
      step = POST_PUBLISH;
    }
    MemorySegment message = session.memory;
    long base = session.requestAt(slot);
    Message.putLong(message, base + Message.PUBLISH_RESERVATION, reservation);
    Message.putInt(message, base + Message.PUBLISH_OFFSET, offset);
    Message.putInt(message, base + Message.PUBLISH_OBJECT_BYTES, bytes);
    Message.putInt(message, base + Message.PUBLISH_HEAD, head);
    Message.putInt(message, base + Message.PUBLISH_FLAGS, delete ? Message.FLAG_DELETE : 0);
    if (!session.send(slot, base, Message.PUBLISH, Message.PUBLISH_REQUEST_BYTES)) {
      stall();
      return;
    }
    step = PUBLISHED;
    // Behind the publish, so that it costs this put nothing.
    session.leases.placed(head, padded);
  }

  /** There is no room for the object. */
  void onNoRoom(int result) {
    if (delete && (result == Result.LOG_FULL || result == Result.DISK_FULL)) {
      step = POST_ERASE;
      postErase();
    } else {
      fail(core.refusal(describe(), result));
    }
  }

  private void postErase() {
    MemorySegment message = session.memory;
    long base = session.requestAt(slot);
    Message.putInt(message, base + Message.ERASE_KEY_LENGTH, keyLength);
    Message.putInt(message, base + Message.ERASE_KEY_LENGTH + 4, 0);
    MemorySegment.copy(
        memory, OBJECT + ObjectLayout.KEY_OFFSET, message, base + Message.ERASE_KEY, keyLength);
    if (session.send(slot, base, Message.ERASE, Message.ERASE_KEY + keyLength)) {
      step = ERASING;
    } else {
      stall();
    }
  }

  @Override
  void onResponse(int type, int result, MemorySegment message, long base, int length) {
    switch (result) {
      case Result.OK -> {
        int at = type == Message.ERASE ? Message.ERASED_EXISTED : Message.PUBLISHED_EXISTED;
        existed = Message.getInt(message, base + at) != 0;
        finish();
      }
      case Result.NO_RESERVATION -> {
        session.leases.drop(head, reservation);
        writeAgain(result);
      }
      case Result.INVALID_OBJECT -> {
        if (writeRefused != Status.SUCCESS) {
          fail(
              new ErdaException.Unusable(
                  describe()
                      + ": a file of the store can't be written from here: "
                      + (writeRefused == Status.MEMORY_LOST
                          ? session.queuePair.lostRegion()
                          : Status.name(writeRefused))
                      + "; the key is untouched"));
        } else if (++invalid > INVALID_MAX) {
          fail(
              new ErdaException.Damaged(
                  describe()
                      + ": the server found what was written at head "
                      + head
                      + ", offset "
                      + offset
                      + " ("
                      + bytes
                      + " bytes) not to be the object, "
                      + invalid
                      + " times; the key is untouched"));
        } else {
          writeAgain(result);
        }
      }
      default -> fail(core.refusal(describe(), result));
    }
  }

  private void writeAgain(int result) {
    if (++rewrites > REWRITES_MAX) {
      fail(
          new ErdaException.Unavailable(
              describe()
                  + ": refused "
                  + rewrites
                  + " times, the last time with: "
                  + Result.name(result)
                  + "; the key is untouched"));
      return;
    }
    core.rewrites++;
    takePlace();
  }

  /** Whether {@code other} has a place in the same log before this one's and was not posted yet. */
  boolean follows(Put other) {
    return other.stalled
        && (other.step == POST_WRITE || other.step == POST_PUBLISH)
        && other.placeOrder < placeOrder
        && other.head == head
        && other.session == session;
  }

  /**
   * A WRITE of this operation failed. The server decides: it publishes nothing that is not whole.
   */
  void onWriteFailed(long ofSerial, int status) {
    if (ofSerial != serial) {
      return;
    }
    if (status != Status.REMOTE_ACCESS) {
      // The server is told of an object that is not there, and says so.
      writeRefused = status;
    } else if (session != null) {
      session.leases.drop(head, reservation);
    }
  }

  @Override
  void resume() {
    if (core.hasUnposted(this)) {
      stall();
      return;
    }
    stalled = false;
    if (step == WAIT_PLACE) {
      takePlace();
    } else if (step == POST_WRITE || step == POST_PUBLISH) {
      post();
    } else if (step == POST_ERASE) {
      postErase();
    } else {
      restart();
    }
  }

  @Override
  boolean published() {
    return step == PUBLISHED || step == ERASING;
  }

  @Override
  boolean mayHaveBeenSent() {
    return published() || step == POST_PUBLISH || step == POST_ERASE;
  }

  @Override
  String describe() {
    return (delete ? "delete of " : "put of ")
        + KeyText.of(memory, OBJECT + ObjectLayout.KEY_OFFSET, keyLength);
  }

  @Override
  void deliver(OperationHandler handler) {
    if (delete) {
      handler.onDelete(token, existed);
    } else {
      handler.onPut(token);
    }
  }

  /** REQUIRES: nothing of this slot is outstanding. */
  private void ensureCapacity(int needed) {
    if (needed <= capacity) {
      return;
    }
    release();
    capacity = Math.max(CAPACITY_MIN, Integer.highestOneBit(needed - 1) << 1);
    // Of the garbage collector, as in a get: see there.
    memory = Arena.ofAuto().allocate(capacity, 64);
    region = core.registerLocal(memory);
    writer = new ObjectWriter(memory);
  }

  /** REQUIRES: the queue pair is closed, or nothing of this slot is outstanding. */
  void release() {
    if (memory != null) {
      core.device.deregister(region);
      memory = null;
      capacity = 0;
    }
  }
}
