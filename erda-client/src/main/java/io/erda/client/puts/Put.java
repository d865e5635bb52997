package io.erda.client.puts;

import io.erda.client.OperationHandler;
import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Connections;
import io.erda.client.connections.Counts;
import io.erda.client.connections.Lease;
import io.erda.client.connections.Leases;
import io.erda.client.connections.LocalPublisher;
import io.erda.client.connections.Refusals;
import io.erda.client.connections.Requests;
import io.erda.client.connections.Session;
import io.erda.client.connections.WorkId;
import io.erda.client.gets.GetErrors;
import io.erda.client.operations.Operation;
import io.erda.client.operations.Outcomes;
import io.erda.client.operations.Step;
import io.erda.hashtable.Entry;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.protocol.Root;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.lang.foreign.MemorySegment;

/**
 * A put or a delete: takes the next place of a lease and makes the object there the newest version
 * of its key, in one of two ways, by the store's put mode.
 *
 * <ul>
 *   <li><b>Published last</b> (design, "A put"): the client WRITEs the object, SENDs a PUBLISH
 *       behind it, and the server's response ends the put. This takes one round trip while the
 *       lease has room, and none when the server is in this process and can take the object at
 *       once.
 *   <li><b>Announced first</b> (Erda paper, section 3.3): the client announces the place to the
 *       server, which stores it in the key's version word. Then the client WRITEs the object, and
 *       the put has taken effect when the object is whole. A READ behind the WRITE ends when the
 *       WRITE has landed. Both must succeed on a connection that the server has not closed, because
 *       the server closes the connection before it takes a version back. The server checks a
 *       condition when the place is announced, and takes no other put of the key until the put is
 *       decided.
 * </ul>
 *
 * <p>When the log has no room for a delete, the client requests that the server empties the entry
 * instead (ERASE).
 *
 * <p>A put is not repeated once a PUBLISH, an ERASE, or the WRITE of an announced object was
 * posted: if the connection ends then, the outcome is unknown. A place that the server refused had
 * no effect, so the put takes another one.
 */
public final class Put extends Operation {
  private static final long NO_PLACE = Long.MAX_VALUE;
  private static final int REWRITES_MAX = 8;
  private static final int INVALID_MAX = 1;

  /**
   * How long a delete that needs no space waits before it is requested again, when a put of its key
   * was not decided yet, in nanoseconds.
   */
  private static final long UNDECIDED_PAUSE_NS = 100_000;

  private final PutOrder putOrder;
  private final PutObject object;
  private final Work write = Work.write();
  private final Work readRoot = Work.read().signaled();

  /** The object that is published without a message. */
  private final LocalPublisher.Built built = new LocalPublisher.Built();

  /** Whether the condition did not hold, so that nothing was done. */
  public boolean conflict;

  /** Whether the key of a delete had a value. */
  public boolean existed;

  /** The number of this submission, which grows with every submission of the client. */
  long order;

  private int head;

  // The place in the log.

  /** Grows with every place that a put of the client takes; {@link #NO_PLACE} without a place. */
  private long placeOrder;

  /** Whether the put of this place is announced first. */
  private boolean announces;

  private long reservation;
  private int offset;
  private long remoteKey;
  private long place;

  /** The number of the place, which is in the ids of its READs and WRITEs. */
  private long serial;

  private int rewrites;
  private int invalid;

  /**
   * The status of a WRITE of this operation that failed, other than by a revoked key; SUCCESS when
   * there was none.
   */
  private int writeRefused;

  public Put(
      ClientContext context,
      Connections connections,
      Outcomes outcomes,
      PutOrder putOrder,
      int slot) {
    super(context, connections, outcomes, slot);
    this.putOrder = putOrder;
    object = new PutObject(context);
  }

  /**
   * Builds the object. REQUIRES: the lengths are in range. {@code value} is null for a delete.
   *
   * @throws InternalError when a page of the caller's memory is missing
   */
  public void build(MemorySegment key, MemorySegment value) {
    object.build(key, value);
  }

  /** As {@link #build}, for a put on the condition that the key has no value. */
  public void buildIfAbsent(MemorySegment key, MemorySegment value) {
    object.buildIfAbsent(key, value);
  }

  /** As {@link #build}, for a put or a delete on the condition that the key has this value. */
  public void buildIfEqual(MemorySegment key, MemorySegment expected, MemorySegment value) {
    object.buildIfEqual(key, expected, value);
  }

  /** Ends the put as one whose condition does not hold. To be called instead of {@link #begin}. */
  public void conflictAtOnce() {
    object.condition = Message.FLAG_IF_EQUAL;
    conflict = true;
  }

  public void begin() {
    open();
    rewrites = 0;
    invalid = 0;
    writeRefused = Status.SUCCESS;
    conflict = false;
    order = putOrder.next();
    needsServer = true;
    restart();
  }

  @Override
  public boolean hasSession() {
    return connections.serverSession() != null;
  }

  @Override
  public void restart() {
    Session usable = connections.serverSession();
    if (usable == null) {
      awaitSession();
      return;
    }
    ErdaException unfit = context.store().unfit(object.keyLength, object.valueLength);
    if (unfit != null) {
      fail(unfit);
      return;
    }
    session = usable;
    head = Entry.headOf(keyWord());
    if (putOrder.hasEarlier(this)) {
      step = Step.WAIT_TURN;
      session = null;
      return;
    }
    takePlace();
  }

  long keyWord() {
    return object.keyWord();
  }

  // A place in the log.

  /**
   * Takes space of the lease, or waits for a lease. Places of a lease are published in ascending
   * order, because the server accepts no place below one that was published. So a later put waits
   * while an earlier put has its place but could not be posted.
   */
  private void takePlace() {
    placeOrder = NO_PLACE;
    if (putOrder.hasUnposted(this)) {
      step = Step.WAIT_PLACE;
      stall();
      return;
    }
    Leases leases = session.leases;
    Lease lease = leases.fitting(head, object.padded);
    if (lease == null) {
      step = Step.WAIT_LEASE;
      leases.request(head, object.padded);
      return;
    }
    place = lease.take(object.padded);
    placeOrder = putOrder.next();
    reservation = lease.reservation;
    remoteKey = lease.remoteKey;
    offset = session.geometry.offset(lease.regionIndex, place);
    object.placeAt(head, lease.generation, offset);
    serial++;
    announces = session.announces();
    if (announces) {
      step = Step.POST_ANNOUNCE;
      postAnnounce();
    } else {
      step = Step.POST_WRITE;
      if (!publishNow()) {
        postWrite();
      }
    }
  }

  /**
   * Whether the place of {@code other} precedes the place of this put, and {@code other} was not
   * posted yet.
   */
  boolean follows(Put other) {
    return other.stalled
        && other.isUnposted()
        && other.placeOrder < placeOrder
        && other.head == head
        && other.session == session;
  }

  /** Whether the object has a place in the log that was not posted to the server yet. */
  private boolean isUnposted() {
    return step == Step.POST_WRITE || step == Step.POST_PUBLISH || step == Step.POST_ANNOUNCE;
  }

  /** A session may have got space in the log of a head: a put that waits for it tries again. */
  void onLease(Session of, int ofHead) {
    if (awaitsLease(of, ofHead)) {
      takePlace();
    }
  }

  /**
   * The server has no room for {@code asked} bytes. A put that waits for less space requests it
   * again.
   */
  void onLeaseRefused(Session of, int ofHead, int asked, int result) {
    if (awaitsLease(of, ofHead)) {
      if (object.padded < asked) {
        takePlace();
      } else {
        onNoRoom(result);
      }
    }
  }

  private boolean awaitsLease(Session of, int ofHead) {
    return step == Step.WAIT_LEASE && session == of && head == ofHead;
  }

  private void onNoRoom(int result) {
    // An ERASE can't have a condition.
    boolean withoutSpace =
        result == Result.LOG_FULL
            || result == Result.DISK_FULL
            || result == Result.NOT_NOW
            || result == Result.OVER_QUOTA;
    if (object.delete && object.condition == 0 && withoutSpace) {
      step = Step.POST_ERASE;
      postErase();
    } else {
      fail(Refusals.of(describe(), result, session.requests.reason()));
    }
  }

  /** Notes in the lease that the place was posted to the server. */
  private void placed() {
    session.leases.placed(head, object.padded);
  }

  /** Gives up the rest of the lease, which can't be written to. */
  private void dropLease() {
    session.leases.drop(head, reservation);
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
    context.counts().rewrites++;
    takePlace();
  }

  // Posting.

  /**
   * Publishes the object without a message, if that is possible now.
   *
   * @return false when nothing was done
   */
  private boolean publishNow() {
    LocalPublisher.Line line = session.line;
    if (line == null || object.condition != 0 || !putOrder.isAlone()) {
      return false;
    }
    built.reservation = reservation;
    built.head = head;
    built.offset = offset;
    built.memory = object.memory;
    built.bytes = object.bytes;
    built.keyLength = object.keyLength;
    built.keyWord = keyWord();
    built.delete = object.delete;
    int outcome = line.publish(built);
    switch (outcome) {
      case LocalPublisher.LATER -> {
        return false;
      }
      case LocalPublisher.FAILED -> fail(Refusals.failed(describe(), line.failure(), line.cause()));
      default -> {
        // The put has taken effect. The lease is updated afterwards, so that an error there does
        // not change the outcome.
        Leases leases = session.leases;
        done(outcome == LocalPublisher.REPLACED);
        leases.placed(head, object.padded);
      }
    }
    return true;
  }

  /**
   * WRITEs the object to its place, and posts behind the WRITE the request that ends the put: the
   * PUBLISH, or for an announced object the READ whose completion shows that the object is there.
   */
  private void postWrite() {
    write
        .id(WorkId.of(serial, slot))
        .local(object.region, PutObject.AT, object.padded)
        .remote(remoteKey, place);
    if (!session.queuePair.post(write)) {
      stall();
    } else if (announces) {
      step = Step.POST_ROOT;
      postRoot();
    } else {
      step = Step.POST_PUBLISH;
      postPublish();
    }
  }

  private void postPublish() {
    Requests requests = session.requests;
    MemorySegment message = requests.memory;
    long base = requests.at(slot);
    Message.putLong(message, base + Message.PUBLISH_RESERVATION, reservation);
    Message.putInt(message, base + Message.PUBLISH_OFFSET, offset);
    Message.putInt(message, base + Message.PUBLISH_OBJECT_BYTES, object.bytes);
    Message.putInt(message, base + Message.PUBLISH_HEAD, head);
    Message.putInt(message, base + Message.PUBLISH_FLAGS, object.flags());
    int length = Message.PUBLISH_REQUEST_BYTES;
    if (object.condition == Message.FLAG_IF_EQUAL) {
      object.putExpected(message, base + Message.PUBLISH_EXPECTED_LENGTH);
      length = Message.PUBLISH_IF_EQUAL_BYTES;
    }
    if (!requests.send(slot, Message.PUBLISH, length)) {
      stall();
      return;
    }
    step = Step.PUBLISHED;
    // This follows the PUBLISH, so that the server already works on the request at the same time.
    placed();
  }

  private void postAnnounce() {
    Requests requests = session.requests;
    MemorySegment message = requests.memory;
    long base = requests.at(slot);
    Message.putLong(message, base + Message.ANNOUNCE_RESERVATION, reservation);
    Message.putInt(message, base + Message.ANNOUNCE_OFFSET, offset);
    Message.putInt(message, base + Message.ANNOUNCE_OBJECT_BYTES, object.bytes);
    Message.putInt(message, base + Message.ANNOUNCE_HEAD, head);
    Message.putInt(message, base + Message.ANNOUNCE_FLAGS, object.flags());
    int keyAt = Message.ANNOUNCE_KEY;
    if (object.condition == Message.FLAG_IF_EQUAL) {
      object.putExpected(message, base + Message.ANNOUNCE_EXPECTED_LENGTH);
      keyAt = Message.ANNOUNCE_IF_EQUAL_KEY;
    }
    object.putKey(message, base + Message.ANNOUNCE_KEY_LENGTH, base + keyAt);
    if (!requests.send(slot, Message.ANNOUNCE, keyAt + object.keyLength)) {
      stall();
      return;
    }
    step = Step.ANNOUNCED;
  }

  /** READs the first word of the root behind the WRITE of the object. */
  private void postRoot() {
    readRoot
        .id(WorkId.of(serial, slot))
        .local(object.region, object.rootAt(), Long.BYTES)
        .remote(session.rootKey, 0);
    if (session.queuePair.post(readRoot)) {
      step = Step.READING_ROOT;
    } else {
      stall();
    }
  }

  private void postErase() {
    Requests requests = session.requests;
    MemorySegment message = requests.memory;
    long base = requests.at(slot);
    object.putKey(message, base + Message.ERASE_KEY_LENGTH, base + Message.ERASE_KEY);
    if (requests.send(slot, Message.ERASE, Message.ERASE_KEY + object.keyLength)) {
      step = Step.ERASING;
    } else {
      stall();
    }
  }

  @Override
  public void resume() {
    if (putOrder.hasUnposted(this)) {
      stall();
      return;
    }
    stalled = false;
    switch (step) {
      case WAIT_PLACE -> takePlace();
      case POST_WRITE, POST_ANNOUNCED_WRITE -> postWrite();
      case POST_PUBLISH -> postPublish();
      case POST_ANNOUNCE -> postAnnounce();
      case POST_ROOT -> postRoot();
      case POST_ERASE -> postErase();
      default -> restart();
    }
  }

  // Responses and completions.

  @Override
  public void onResponse(int type, int result, MemorySegment message, long base, int length) {
    switch (result) {
      case Result.OK -> {
        if (type == Message.ERASE) {
          done(Message.getInt(message, base + Message.ERASED_EXISTED) != 0);
        } else if (announces) {
          onAnnounced(message, base);
        } else {
          done(Message.getInt(message, base + Message.PUBLISHED_EXISTED) != 0);
        }
      }
      case Result.CONFLICT -> {
        if (object.condition == 0) {
          session.fail("the server found a conflict for a " + describe());
        } else {
          if (announces) {
            placed();
          }
          conflict = true;
          finish();
        }
      }
      case Result.UNDECIDED -> backOff(UNDECIDED_PAUSE_NS);
      case Result.NO_RESERVATION -> {
        dropLease();
        writeAgain(result);
      }
      case Result.INVALID_OBJECT -> onInvalid(result);
      default -> fail(Refusals.of(describe(), result, session.requests.reason()));
    }
  }

  private void onAnnounced(MemorySegment message, long base) {
    existed = Message.getInt(message, base + Message.ANNOUNCED_EXISTED) != 0;
    if (Message.getInt(message, base + Message.ANNOUNCED_AWAITED) == 0) {
      placed();
      done(existed);
      return;
    }
    step = Step.POST_ANNOUNCED_WRITE;
    postWrite();
    // This may end a full lease. It comes only after the announcement was answered, because the
    // server refuses a waiting announcement whose reservation has ended.
    placed();
  }

  private void onInvalid(int result) {
    if (writeRefused != Status.SUCCESS) {
      failUnwritten();
    } else if (++invalid > INVALID_MAX && !session.queuePair.unreached().isEmpty()) {
      // The device could not open the region's file, so the object was never written and the server
      // could not find it.
      writeRefused = Status.REMOTE_ACCESS;
      failUnwritten();
    } else if (invalid > INVALID_MAX) {
      fail(
          new ErdaException.Damaged(
              describe()
                  + ": the server found what was written at head "
                  + head
                  + ", offset "
                  + offset
                  + " ("
                  + object.bytes
                  + " bytes) not to be the object, "
                  + invalid
                  + " times; the key is untouched"));
    } else {
      writeAgain(result);
    }
  }

  /** A WRITE of this operation failed. */
  public void onWriteFailed(long ofSerial, int status) {
    if (ofSerial != serial) {
      return;
    }
    if (status != Status.REMOTE_ACCESS) {
      // The server refuses a PUBLISH of an object that was not written.
      writeRefused = status;
    } else if (session != null) {
      onPlaceRevoked();
    }
  }

  /** Handles a WRITE that was refused because its remote key was revoked. */
  private void onPlaceRevoked() {
    if (announces) {
      // The server revokes no key while an announced place is undecided. So the device is ending,
      // and the outcome is unknown.
      session.fail("a WRITE to a place that was announced was refused");
    } else {
      // The server's answer still decides, because the server publishes only a whole object.
      dropLease();
    }
  }

  /** A READ of this operation completed. */
  public void onRead(long ofSerial) {
    if (ofSerial != serial || step != Step.READING_ROOT || !session.ready()) {
      // When the connection has ended, onSessionLost decides the outcome of the put.
      return;
    }
    long incarnation = Root.incarnation(object.memory, object.rootAt());
    if (incarnation != session.welcome.incarnation()) {
      session.fail(
          "the server was started anew (incarnation " + Long.toHexString(incarnation) + ")");
    } else if (writeRefused != Status.SUCCESS) {
      failUnwritten();
    } else {
      done(existed);
    }
  }

  /** A READ of this operation failed. */
  public void onReadFailed(long ofSerial, int status) {
    if (ofSerial == serial && step == Step.READING_ROOT) {
      session.fail("a READ behind a WRITE ended with: " + Status.name(status));
    }
  }

  /** Ends the put, which has taken effect. */
  private void done(boolean keyExisted) {
    existed = keyExisted;
    finish();
  }

  /** Ends the put, whose WRITE failed. */
  private void failUnwritten() {
    String why = GetErrors.status(session.queuePair, writeRefused) + "; the key is untouched";
    fail(
        writeRefused == Status.NO_SPACE
            ? new ErdaException.Full(ErdaException.Full.What.DISK, describe() + ": " + why)
            : new ErdaException.Unusable(
                describe() + ": a file of the store can't be written from here: " + why));
  }

  // The state of the put when its connection ends.

  @Override
  public boolean published() {
    return switch (step) {
      case PUBLISHED, POST_ROOT, READING_ROOT, ERASING -> true;
      default -> false;
    };
  }

  @Override
  protected boolean mayHaveBeenSent() {
    return switch (step) {
      case POST_PUBLISH, POST_ANNOUNCED_WRITE, POST_ERASE -> true;
      default -> published();
    };
  }

  /**
   * An announced put is decided by its WRITE, which may land until the server notices the end of
   * the connection.
   */
  @Override
  protected boolean isDecidedByItsRequest() {
    return switch (step) {
      case POST_ANNOUNCE, ANNOUNCED, POST_ANNOUNCED_WRITE, POST_ROOT, READING_ROOT -> false;
      default -> true;
    };
  }

  @Override
  protected void onEnded() {
    if (error == null && !conflict) {
      Counts counts = context.counts();
      counts.puts += object.delete ? 0 : 1;
      counts.deletes += object.delete ? 1 : 0;
    }
    putOrder.giveTurn();
  }

  @Override
  public String describe() {
    return object.describe();
  }

  @Override
  protected void deliver(OperationHandler handler) {
    if (object.condition != 0) {
      handler.onConditional(token, !conflict);
    } else if (object.delete) {
      handler.onDelete(token, existed);
    } else {
      handler.onPut(token);
    }
  }

  /** REQUIRES: the queue pair is closed, or nothing of this slot is outstanding. */
  void release() {
    object.release();
  }
}
